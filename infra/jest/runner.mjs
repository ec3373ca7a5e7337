import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { bindGlobals } from './globals.mjs';

const require = createRequire(import.meta.url);
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
      return require(file);
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
