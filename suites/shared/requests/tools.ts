/** Names and descriptions of tools. */
export const ONE_TOOL = { get_weather: "Current weather of a city" };
export const TWO_TOOLS = { ...ONE_TOOL, get_time: "Local time of a city" };
