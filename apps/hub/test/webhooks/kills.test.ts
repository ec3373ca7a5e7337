// A hub that is killed after a request for access is acknowledged, and before its message is sent, loses nothing.
import { randomBytes } from 'node:crypto';
import { hubEndpoints } from '@svc/contract/hub';
import { createTestDatabase, eventually, onServer, startWebhookReceiver, verifyMessage } from '@svc/testing';
import { ask, patientUrl } from '@svc/testing/faults';
import { adminOf, prepareHubFaults } from '../faults/world.ts';

const { anIssuer, aHub, closers } = prepareHubFaults();

test('a message is sent once by the next process, although the hub is killed between the commit and the send', async () => {
  const database = await createTestDatabase();
  closers.push(database.drop);
  const receiver = await startWebhookReceiver();
  closers.push(receiver.stop);
  const issuer = await anIssuer();
  const authorization = await adminOf(issuer);
  const settings = {
    databaseUrl: patientUrl(database.url),
    issuer: issuer.issuer,
    environment: {
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      OUTBOUND_ALLOW: 'http,loopback',
    },
  };
  const killed = await aHub(settings);
  const call = async (path: string, body: object) => {
    const answer = await ask(`${killed.url}/api/v1${path}`, { method: 'POST', authorization, body });
    expect(answer.status).toBe(201);
    return answer.body;
  };
  const given = { name: 'receiver', url: receiver.url, events: ['access.requested'] };
  const { webhook } = hubEndpoints.createWebhook.reply.parse(await call('/admin/webhooks', given));
  await call('/account/organizations', { name: 'Acme', slug: 'acme' });
  const setRetry = (at: string) =>
    onServer(database.url, (client) => client.query(`UPDATE webhooks SET retry_at = ${at}`));
  await setRetry(`now() + interval '1 hour'`);
  const { request } = await call('/account/access-requests', { category_slug: 'internal' });
  killed.child.kill('SIGKILL');
  await killed.ended;
  expect(receiver.received).toEqual([]);

  await setRetry('NULL');
  await aHub(settings);
  await eventually('the message has arrived', () => receiver.received.length > 0);
  expect(receiver.received.map(({ data }) => data.id)).toEqual([request.id]);
  for (const message of receiver.received) verifyMessage(webhook.secret, message);
});
