// Preloaded into every Node process of Jest, so that it can import TypeScript.
import { register } from 'node:module';

register('./hooks.mjs', import.meta.url);
