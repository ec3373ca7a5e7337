import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { bindGlobals } from './globals.mjs';

const require = createRequire(import.meta.url);
const asyncHooks = require('node:async_hooks');
const { default: circus } = require('jest-circus/runner');
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

/**
 * The `testRunner` of Jest: jest-circus, with modules that Node loads instead of the module system of Jest. A worker
 * loads each module once for all its test files.
 */
export default function run(globalConfig, config, environment, _runtime, testPath, sendMessageToJest) {
  const jest = jestObject(environment);
  const native = {
    // Loaded again for each test file, because its state and its event handlers belong to one file.
    requireInternalModule: (file) => {
      delete globalThis[EVENT_HANDLERS];
      delete require.cache[file];
      return withoutAsyncStorage(() => require(file));
    },
    requireModule: require,
    setGlobalsForRuntime: (globals) => bindGlobals({ ...globals, jest }),
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (file) => import(pathToFileURL(file).href),
    enterTestCode: () => undefined,
    leaveTestCode: () => undefined,
  };
  return circus(globalConfig, config, environment, native, testPath, sendMessageToJest);
}

/**
 * jest-circus stores the current test in an AsyncLocalStorage. In Node 20, every AsyncLocalStorage that was ever used
 * slows down all promises of the process, and each test file loads jest-circus again. Tests run sequentially
 * (`test.concurrent` is not used), so a variable is sufficient.
 */
function withoutAsyncStorage(load) {
  const { AsyncLocalStorage } = asyncHooks;
  asyncHooks.AsyncLocalStorage = CurrentTest;
  try {
    return load();
  } finally {
    asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
  }
}

class CurrentTest {
  #store;

  getStore() {
    return this.#store;
  }

  async run(store, callback) {
    const before = this.#store;
    this.#store = store;
    try {
      return await callback();
    } finally {
      this.#store = before;
    }
  }
}

/** The part of `jest` that works without its module system. */
function jestObject({ moduleMocker, fakeTimersModern }) {
  return {
    fn: moduleMocker.fn.bind(moduleMocker),
    spyOn: moduleMocker.spyOn.bind(moduleMocker),
    restoreAllMocks: () => moduleMocker.restoreAllMocks(),
    useFakeTimers: (options) => fakeTimersModern.useFakeTimers(options),
    useRealTimers: () => fakeTimersModern.useRealTimers(),
    setSystemTime: (now) => fakeTimersModern.setSystemTime(now),
    advanceTimersByTime: (ms) => fakeTimersModern.advanceTimersByTime(ms),
    setTimeout: (ms) => {
      globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = ms;
    },
  };
}
