import { createPrivateKey, X509Certificate } from 'node:crypto';
import { ageOfAuditEntries, type StatementQuery, settledAuditNumber } from '@svc/database';
import {
  certificatesProblem,
  type DoctorCheck,
  failed,
  type Log,
  ok,
  requireTogether,
  secretSetting,
  warning,
} from '@svc/http';
import { z } from 'zod';
import { createDelivery, type Delivery, type DeliveryTimings, type Row, type Source } from './delivery.ts';
import { exchange, type Receiver } from './exchange.ts';
import { stdoutTarget } from './stdout.ts';
import { connectionFailure, syslogTarget } from './syslog.ts';

const NAME = 'audit';
const STDOUT = 'stdout';
/** Of syslog over TLS (RFC 5425, section 4.1). */
const DEFAULT_PORT = 6514;

const targetSetting = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (text === STDOUT) return STDOUT;
  if (url && /^tls:\/\/[^/?#@]+$/.test(text) && url.hostname !== '')
    return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || DEFAULT_PORT };
  context.addIssue({ code: 'custom', message: 'must be stdout, or tls://host:port of a syslog receiver' });
  return z.NEVER;
});

const certificates = z
  .string()
  .refine((text) => certificatesProblem(text) === undefined, 'must be certificates in PEM format');

const privateKey = z
  .string()
  .refine((text) => keyIn(text) !== undefined, 'must be a private key in PEM format, without a passphrase');

function keyIn(text: string) {
  try {
    return createPrivateKey(text);
  } catch {
    return undefined;
  }
}

/** The settings of the delivery of audit entries. Their descriptions are the meanings in docs/configuration.md. */
export const auditDeliverySettings = {
  AUDIT_DELIVERY: targetSetting
    .optional()
    .describe(
      'where audit entries are delivered ([delivery](audit.md#delivery)): `stdout`, or a syslog receiver with TLS such as `tls://syslog.example.com:6514`. The default port is 6514. If not set, they are not delivered',
    ),
  AUDIT_DELIVERY_CA: secretSetting(
    certificates
      .optional()
      .describe(
        'the certificate authorities that can have signed the certificate of the receiver, instead of the public ones and those of `NODE_EXTRA_CA_CERTS`',
      ),
  ),
  AUDIT_DELIVERY_CERT: secretSetting(
    certificates.optional().describe('the client certificate for the receiver, with its intermediate certificates'),
  ),
  AUDIT_DELIVERY_KEY: secretSetting(privateKey.optional().describe('the private key of the client certificate')),
};

const schema = z.object(auditDeliverySettings);
export type AuditDeliverySettings = z.output<typeof schema>;

/** The rules for several settings of the delivery, for the schema of a service that has them. */
export const auditDeliveryRules = [
  requireTogether('AUDIT_DELIVERY_CERT', 'AUDIT_DELIVERY_KEY'),
  z.superRefine<AuditDeliverySettings>(
    (settings, context) => {
      const refuse = (name: keyof AuditDeliverySettings, message: string) =>
        context.addIssue({ code: 'custom', path: [name], message });
      const { AUDIT_DELIVERY: target, AUDIT_DELIVERY_CERT: cert, AUDIT_DELIVERY_KEY: key } = settings;
      if (cert && key && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
        refuse('AUDIT_DELIVERY_KEY', 'must be the private key of the first certificate in AUDIT_DELIVERY_CERT');
      if (target !== undefined && target !== STDOUT) return;
      for (const name of ['AUDIT_DELIVERY_CA', 'AUDIT_DELIVERY_CERT'] as const)
        if (settings[name] !== undefined) refuse(name, 'requires AUDIT_DELIVERY with the address of a syslog receiver');
    },
    { when: ({ issues }) => issues.length === 0 },
  ),
] as const;

/** What an operator does about the certificate of a receiver. */
const UNTRUSTED =
  'Its certificate is not signed by an authority that this service trusts. Set AUDIT_DELIVERY_CA_FILE to a file with the certificate of the authority.';

type Address = Pick<Receiver, 'host' | 'port'>;

const receiverAt = (
  address: Address,
  { AUDIT_DELIVERY_CA: ca, AUDIT_DELIVERY_CERT: cert, AUDIT_DELIVERY_KEY: key }: AuditDeliverySettings,
): Receiver => ({ ...address, tls: { ...(ca && { ca }), ...(cert && key && { cert, key }) } });

interface AuditLog {
  /** Runs statements on the database of the service. */
  readonly query: StatementQuery;
  /** Entries with numbers after `after`, up to `until`, in the order of their numbers: at most `limit`. */
  readonly readAfter: (range: {
    readonly after: bigint;
    readonly until: bigint;
    readonly limit: number;
  }) => Promise<readonly Row[]>;
}

interface Options extends AuditLog {
  readonly service: 'hub' | 'fleet';
  /** The settings in effect. Only the certificates and the key may change. */
  readonly settings: () => AuditDeliverySettings;
  readonly log: Log;
  /** The timings of production apply unless given. */
  readonly timings?: (Partial<DeliveryTimings> & Pick<Receiver, 'pauseMs'>) | undefined;
}

/** The delivery of audit entries that the settings request; undefined: none. */
export function createAuditDelivery({
  service,
  settings,
  query,
  readAfter,
  log,
  timings = {},
}: Options): Delivery | undefined {
  const { AUDIT_DELIVERY: to } = settings();
  if (to === undefined) return undefined;
  const target =
    to === STDOUT
      ? stdoutTarget({ stream: process.stdout, base: { service }, member: NAME })
      : syslogTarget({
          receiver: () => ({ ...receiverAt(to, settings()), pauseMs: timings.pauseMs }),
          appName: `svc-${service}`,
          messageId: NAME,
          untrusted: UNTRUSTED,
        });
  return createDelivery({ name: NAME, source: auditSource({ query, readAfter }), target, query, log, timings });
}

/** The audit log in the order of its numbers, as far as it is settled. */
const auditSource = ({ query, readAfter }: AuditLog): Source => ({
  start: async () => String(await settledAuditNumber(query)),
  read: async (position, limit, signal) => {
    const after = BigInt(position);
    return readAfter({ after, until: await settledAuditNumber(query, { after, signal }), limit });
  },
  ageAfter: (position) => ageOfAuditEntries(query, BigInt(position)),
});

/** The time limit of the check of the receiver. */
const CHECK_MS = 5000;

/** Checks that the receiver of audit entries can be reached, without sending an entry. */
export const auditDeliveryCheck = (config: () => AuditDeliverySettings): DoctorCheck => ({
  name: `${NAME} delivery`,
  run: async () => {
    const { AUDIT_DELIVERY: to } = config();
    if (to === undefined) return ok('Audit entries are not delivered to another system.');
    if (to === STDOUT) return ok('Audit entries are written to standard output.');
    const name = `${to.host}:${to.port}`;
    try {
      const isAnswered = await exchange(receiverAt(to, config()), '', AbortSignal.timeout(CHECK_MS));
      if (isAnswered) return ok(`${name} accepts connections, and confirms what it has received.`);
      return warning(
        `${name} accepts connections, but does not answer their end, so that entries can be lost when it is killed.`,
        'Use a receiver that answers close_notify. docs/audit.md names some.',
      );
    } catch (error) {
      return failed(
        `${name}: ${connectionFailure(error, UNTRUSTED)}`,
        'Correct AUDIT_DELIVERY and its certificates, or the receiver. The entries stay in the database until they are delivered.',
      );
    }
  },
});
