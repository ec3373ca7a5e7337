import { setTimeout as wait } from 'node:timers/promises';
import { figure, fromFull } from '@svc/testing';
import { moreAcknowledged, patientUrl, queryOn, type RunningService, startLoad, statusesOf } from '@svc/testing/faults';
import { openLedger } from './identity-ledger.ts';
import { anAdminToken, prepareFleetFaults } from './identity-world.ts';

const { aDatabase, aFleet } = prepareFleetFaults();
const ROUNDS = fromFull({ full: 3, long: 20 });
/** The number of changes that are acknowledged before each kill. */
const SOME_CHANGES = 30;

test(
  `a fleet that is killed under load keeps each acknowledged change, and records each response once (rounds: ${ROUNDS})`,
  async () => {
    const databaseUrl = patientUrl(await aDatabase());
    const query = queryOn(databaseUrl);
    let fleet: RunningService = await aFleet({ databaseUrl });
    const ledger = openLedger({ url: () => fleet.url, secret: await anAdminToken(databaseUrl) });
    const readyAgain: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const load = startLoad([
        ...['a', 'b', 'c', 'd'].map((lane) => ledger.writer(`round ${round} ${lane}`)),
        ledger.reader('/api/v1/tokens'),
        ledger.reader('/nothing'),
        ledger.reader('/healthz'),
      ]);
      try {
        await moreAcknowledged(ledger, SOME_CHANGES);
        await wait(Math.random() * 100); // at any point of a request
      } finally {
        fleet.child.kill('SIGKILL');
        await fleet.ended;
        await load.stop();
      }
      expect(statusesOf(load.seen)).toEqual([0, 200, 201, 404]);
      fleet = await aFleet({ databaseUrl, port: fleet.port });
      readyAgain.push(fleet.readyAfterMs);
      expect(await ledger.lost(query)).toEqual([]);
      expect(await ledger.misrecorded(query)).toEqual([]);
    }
    figure(`fleet killed ${ROUNDS} times: ${ledger.acknowledged()} changes acknowledged, none lost`);
    figure(`ready again after (ms): ${readyAgain.join(' ')}`);
  },
  30_000 + ROUNDS * 10_000,
);
