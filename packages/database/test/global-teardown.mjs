export default () => globalThis.__tearDown();
