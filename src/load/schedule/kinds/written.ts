import * as z from "zod";

/** Values that several kinds of arrivals have in a workload file. */
export const rate = z.number().positive();
export const seconds = z.number().positive();
export const whole = z.int().positive();
