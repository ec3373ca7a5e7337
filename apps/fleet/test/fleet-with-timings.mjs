// Runs the built fleet with timings that the first argument gives as JSON. process-world.ts starts
// it.
import { fileURLToPath } from 'node:url';
import { startFleet } from '../dist/start.js';

const [, , timings = '{}'] = process.argv;
await startFleet(fileURLToPath(new URL('../../../prisma/fleet', import.meta.url)), JSON.parse(timings));
