// Adds CPU time to each poll of the hub that loads this module, as a regression would. `PLANTED_MICROSECONDS` is the amount.
import { Server } from 'node:http';

const POLL = '/api/v1/catalog/templates/updates';
/** Short calls, as those of polls, because a long loop is compiled differently. */
const CALIBRATION = { rounds: 5000, calls: 20_000 };

function spin(rounds) {
  let value = 1;
  for (let round = 0; round < rounds; round += 1) value = Math.imul(value, 31) + round;
  return value;
}

const calibrate = () => {
  const before = process.cpuUsage();
  for (let call = 0; call < CALIBRATION.calls; call += 1) spin(CALIBRATION.rounds);
  return process.cpuUsage(before).user;
};
calibrate(); // compiles the functions
const roundsPerMicrosecond = (CALIBRATION.rounds * CALIBRATION.calls) / calibrate();
const rounds = Math.round(roundsPerMicrosecond * Number(process.env.PLANTED_MICROSECONDS));

const { emit } = Server.prototype;
Server.prototype.emit = function (event, ...args) {
  if (event === 'request' && args[0].url.startsWith(POLL)) spin(rounds);
  return emit.call(this, event, ...args);
};
