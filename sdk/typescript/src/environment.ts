// Variables of the environment, where there are some: browsers and workers have none.

const variables = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process
  ?.env;

/** Return a variable; empty if it is not set. */
export function environment(name: string): string {
  return variables?.[name] ?? "";
}
