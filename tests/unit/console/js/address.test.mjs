// Which hosts are the machine of the browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { isThisMachine } from "../../../../api/console/static/lib/address.js";

test("only loopback addresses are this machine", () => {
  for (const host of ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"]) assert(isThisMachine(host), host);
  for (const host of ["127.0.0.1.example.com", "localhost.example.com", "10.0.0.1", "example.com", ""]) {
    assert(!isThisMachine(host), host);
  }
});
