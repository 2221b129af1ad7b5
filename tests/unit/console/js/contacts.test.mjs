// How columns of a file are mapped to fields, and forms to contacts.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  mappingError,
  proposeMappings,
  toRequest,
} from "../../../../api/console/static/account/contact-mapping.js";

test("columns with the usual names, and those of the list's fields, are proposed once each", () => {
  const headers = ["Phone number", "Mobile", "First Name", "SURNAME", "E-Mail", "city", "Notes"];
  assert.deepEqual(proposeMappings(headers, ["City"]), {
    "Phone number": "phoneNumber",
    "First Name": "fName",
    SURNAME: "lName",
    "E-Mail": "email",
    city: "City",
  });
});

test("a name that is exactly that of a field is that field", () => {
  assert.deepEqual(proposeMappings(["lName", "number"], ["number"]), {
    lName: "lName",
    number: "number",
  });
});

test("columns that are not imported are left out, and new fields are named", () => {
  const chosen = { Phone: "phoneNumber", Notes: "", City: "new:City" };
  assert.deepEqual(toRequest(chosen), {
    mappings: { Phone: "phoneNumber", City: "City" },
    newFields: ["City"],
  });
});

test("a mapping needs the number, and each field once", () => {
  assert.equal(mappingError({ Phone: "phoneNumber", City: "city" }), "");
  assert.match(mappingError({ City: "city" }), /numbers/);
  assert.match(mappingError({ a: "phoneNumber", b: "fName", c: "fName" }), /First name/);
});
