// Webhooks lose no event and keep the order of each object, although the fleet and the receiver are killed.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fleetEndpoints } from '@svc/contract/fleet';
import {
  eventually,
  figure,
  freePort,
  fromFull,
  LONG_TEST_MS,
  onServer,
  type StartedProcess,
  startProcess,
} from '@svc/testing';
import { patientUrl } from '@svc/testing/faults';
import { Webhook } from 'standardwebhooks';
import { anAdminToken, prepareFleetFaults } from '../faults/identity-world.ts';

const { aDatabase, aFolder, aFleet } = prepareFleetFaults();
const RECEIVER = path.resolve(import.meta.dirname, 'receiver-process.ts');
const EVENTS = 10_000;
const OBJECTS = 20;
/** The waits for messages, which include the lease of a killed fleet. */
const withinMs = LONG_TEST_MS / 2;

/** Records problems of an object and their ends, one after another. */
const record = (databaseUrl: string, objectId: string, count: number) =>
  onServer(databaseUrl, async (client) => {
    for (let number = 1; number <= count; number += 1) {
      const severity = number % 2 === 1 ? 'warning' : 'normal';
      await client.query(
        `WITH ended AS (UPDATE events SET resolved_at = clock_timestamp() WHERE object_id = $1 AND resolved_at IS NULL AND $2 = 'normal')
         INSERT INTO events (id, kind, object_id, name, severity, reason, message)
         VALUES (gen_random_uuid(), 'deployments', $1, $3, $2, CASE $2 WHEN 'normal' THEN 'Recovered' ELSE 'CrashLoop' END, '')`,
        [objectId, severity, `event ${number}`],
      );
    }
  });

test(
  'ten thousand events arrive at a receiver, each and in order per object, although both sides are killed repeatedly',
  async () => {
    const kills = fromFull({ full: 2, long: 10 });
    const databaseUrl = await aDatabase();
    const stored = path.join(aFolder(), 'messages');
    fs.writeFileSync(stored, '');
    const port = await freePort();
    const started: StartedProcess[] = [];
    const aReceiver = async () => {
      const receiver = startProcess(RECEIVER, [`${port}`, stored], {});
      started.push(receiver);
      await eventually('the receiver listens', () => receiver.output().includes('listening'));
      return receiver;
    };
    const lines = () => fs.readFileSync(stored, 'utf8').split('\n').slice(0, -1);
    const settings = { databaseUrl: patientUrl(databaseUrl), environment: { OUTBOUND_ALLOW: 'http,loopback' } };
    const secretOfAdmin = await anAdminToken(databaseUrl);
    try {
      let receiver = await aReceiver();
      let fleet = await aFleet(settings);
      const response = await fetch(`${fleet.url}/api/v1/webhooks`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${secretOfAdmin}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({
          ...{ name: 'killed', url: `http://127.0.0.1:${port}/` },
          events: ['deployment.failed', 'deployment.recovered'],
        }),
      });
      expect(response.status).toBe(201);
      const { webhook } = fleetEndpoints.createWebhook.reply.parse(await response.json());
      const objects = Array.from({ length: OBJECTS }, () => randomUUID());
      const recorded = Promise.all(objects.map((id) => record(databaseUrl, id, EVENTS / OBJECTS)));
      for (let kill = 1; kill <= 2 * kills; kill += 1) {
        const enough = (kill * EVENTS) / (2 * kills + 1);
        await eventually(`${enough} messages have arrived`, () => lines().length, {
          until: (count) => count >= enough,
          withinMs,
        });
        const killed = kill % 2 === 1 ? receiver : fleet;
        killed.child.kill('SIGKILL');
        await killed.ended;
        if (killed === receiver) receiver = await aReceiver();
        else fleet = await aFleet({ ...settings, port: fleet.port });
      }
      await recorded;
      const ids = () => new Set(lines().map((line) => JSON.parse(line).headers['webhook-id']));
      await eventually('all events have arrived', () => ids().size, { until: (count) => count >= EVENTS, withinMs });

      const first = new Map<string, { readonly id: string; readonly name: string }>();
      const verifier = new Webhook(webhook.secret);
      for (const line of lines()) {
        const { headers, text } = JSON.parse(line);
        // The verifier refuses messages that are older than five minutes, as these can be by now.
        const at = new Date(Number(headers['webhook-timestamp']) * 1000);
        expect(headers['webhook-signature']).toBe(verifier.sign(headers['webhook-id'], at, text));
        if (!first.has(headers['webhook-id'])) first.set(headers['webhook-id'], JSON.parse(text).data);
      }
      expect(first.size).toBe(EVENTS);
      for (const id of objects) {
        const names = [...first.values()].filter((data) => data.id === id).map(({ name }) => name);
        expect(names).toEqual(Array.from({ length: EVENTS / OBJECTS }, (_, index) => `event ${index + 1}`));
      }
      figure(`${EVENTS} events through ${kills} kills of each side: ${lines().length - EVENTS} copies`);
    } finally {
      for (const { child, ended } of started) {
        child.kill('SIGKILL');
        await ended;
      }
    }
  },
  LONG_TEST_MS,
);
