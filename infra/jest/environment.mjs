import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { scaled, startDeadline } from '../../packages/testing/src/run/deadlines.ts';

/** Uses the realm of the worker process: test files run as ordinary modules. */
export default class SharedRealm {
  /** Jest writes properties for the global object of a test file here. */
  global = {};

  /** The timeouts of tests and hooks as they are written, because a hook can run more than once. */
  #written = new WeakMap();

  constructor({ projectConfig }) {
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.fakeTimers = this.fakeTimersModern;
  }

  async setup() {}

  /** Scales the timeout of each test and hook with the speed of the machine. */
  handleTestEvent(event, { testTimeout }) {
    if (event.name === 'test_fn_start') this.#setTimeout(event.test, testTimeout);
    if (event.name === 'hook_start') this.#setTimeout(event.hook, testTimeout);
  }

  #setTimeout(testOrHook, byDefault) {
    const written = this.#written.get(testOrHook) ?? testOrHook.timeout ?? byDefault;
    this.#written.set(testOrHook, written);
    testOrHook.timeout = scaled(written);
    startDeadline(testOrHook.timeout);
  }

  /** Restores everything that the test file has mocked. */
  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}
