// @ts-check
// The address of a page: its host, and filters in it.

/**
 * Return whether a host is the machine of the browser.
 * @param {string} hostname of a location: an IPv6 address is in brackets
 */
export function isThisMachine(hostname) {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.[0-9]+){3}$/.test(hostname);
}

/**
 * Return the filters that the address has.
 * @param {string[]} names
 * @returns {Record<string, string>}
 */
export function readFilters(names) {
  const query = new URLSearchParams(location.search);
  return Object.fromEntries(
    names.filter((name) => query.has(name)).map((name) => [name, query.get(name) ?? ""]),
  );
}

/**
 * Replace the filters of the address.
 * @param {Record<string, unknown>} filters
 */
export function writeFilters(filters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) query.set(name, String(value));
  const text = query.size ? `?${query}` : "";
  history.replaceState(null, "", location.pathname + text + location.hash);
}
