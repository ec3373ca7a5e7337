// Adds CPU time to each poll of the hub that loads this module, as a regression would. `PLANTED_MICROSECONDS` is the amount.
import { Server } from 'node:http';

const POLL = '/api/v1/catalog/updates';
const CALIBRATION = 20_000_000;

function spin(rounds) {
  let value = 1;
  for (let round = 0; round < rounds; round += 1) value = Math.imul(value, 31) + round;
  return value;
}

spin(CALIBRATION); // compiles the function
const before = process.cpuUsage();
spin(CALIBRATION);
const { user } = process.cpuUsage(before);
const rounds = Math.round((CALIBRATION / user) * Number(process.env.PLANTED_MICROSECONDS));

const { emit } = Server.prototype;
Server.prototype.emit = function (event, ...args) {
  if (event === 'request' && args[0].url.startsWith(POLL)) spin(rounds);
  return emit.call(this, event, ...args);
};
