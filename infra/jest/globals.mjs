// What `@jest/globals` exports, bound to the test file that runs at present.
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test, jest;

/** Makes these the globals, for modules that import them and for those that do not. */
export function bindGlobals(given) {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test, jest } = given);
  Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test, jest });
}
