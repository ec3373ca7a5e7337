// Preloaded into every Node process of Jest: tests and sources are imported as they are written.
import { register } from 'node:module';

register('./hooks.mjs', import.meta.url);
