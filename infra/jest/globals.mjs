// The exports of `@jest/globals`, bound to the current test file.
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test, jest;

/** Sets the globals, for modules that import them and for others. */
export function bindGlobals(given) {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test, jest } = given);
  Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test, jest });
}
