export { type Allowance, BudgetReached, RequestBudget, type Share } from "./request-budget.ts";
