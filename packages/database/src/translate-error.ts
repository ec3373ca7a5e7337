import { callOf, connectionProblem, type HealthCheck, Problem, processMetrics, unavailable } from '@svc/http';
import { Counter } from 'prom-client';

/** The problem for a violation of each constraint or unique index, by name. */
export type ConstraintProblems = Readonly<Record<string, (error: unknown) => Problem>>;

/** The details of a failure, which Prisma, its adapter and pg report in different members. */
type Failure = {
  prismaCode: string;
  kind: string;
  sqlState: string;
  constraint: string;
  systemCode: string;
  text: string;
  /** The message that PostgreSQL sent, if Prisma reports the failure. */
  driverText: string;
};

/**
 * Why a database call failed, with the detail of the problem. The keys are label values of a
 * metric.
 */
const details = {
  unreachable: 'The database is not reachable. Retry later.',
  timed_out: 'The database took too long to respond. Retry later.',
  disk_full: 'The database does not accept changes. Retry later.',
  read_only: 'The database does not accept changes. Retry later.',
  conflict: 'Another change was made at the same time. Retry the request.',
} as const;

type Reason = keyof typeof details;

const failures = new Counter({
  name: 'database_failures_total',
  help: `Number of failed database calls that can succeed later, by reason: ${Object.keys(details).join(', ')}`,
  labelNames: ['reason'] as const,
  registers: [processMetrics],
});
// So that the first failure is an increase.
for (const reason of Object.keys(details)) failures.inc({ reason }, 0);

/**
 * Error codes of PostgreSQL, or prefixes of them
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const bySqlState: readonly (readonly [string, Reason])[] = [
  ['08', 'unreachable'], // connection exception
  ['28', 'unreachable'], // invalid credentials of the service
  ['3D000', 'unreachable'], // the database does not exist
  ['57P', 'unreachable'], // shutdown, crash, starting up, dropped
  ['25P03', 'unreachable'], // idle-in-transaction timeout
  ['53300', 'unreachable'], // too many connections
  ['53100', 'disk_full'], // disk full
  ['53', 'unreachable'], // other insufficient resources
  ['25006', 'read_only'], // read-only: a standby
  ['55P03', 'timed_out'], // lock timeout
  ['57014', 'timed_out'], // statement timeout
  ['40001', 'conflict'], // serialization failure
  ['40P01', 'conflict'], // deadlock
];
/** Error codes of Prisma for errors without a code of PostgreSQL. */
const byPrismaCode: Readonly<Record<string, Reason>> = {
  P2024: 'timed_out',
  P2028: 'timed_out',
  P2034: 'conflict',
  P2037: 'unreachable',
};
const connectionKinds = ['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TlsConnectionError'];
const systemCodes = /^(ECONN\w+|ENOTFOUND|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/;
const isConnectionCode = (code: string) => systemCodes.test(code) || connectionProblem({ code })?.isOfTls === true;
/** Messages of errors of pg and pg-pool that have no code. */
const unreachableMessages =
  /^(The server does not support SSL connections|Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/;
const timeoutMessages = /^(timeout exceeded when trying to connect|Query read timeout)/;

/**
 * Translates an error of a database call to a Problem: that of the violated constraint, or
 * `unavailable` if a retry can succeed. The latter are counted. Other errors are returned
 * unchanged. Only pass errors of database calls: every socket error is asDatabaseFailure to the database.
 */
export function translateDatabaseError(error: unknown, constraints: ConstraintProblems): unknown {
  const failure = failureOf(error);
  if (!failure) return error;
  const known = Object.hasOwn(constraints, failure.constraint) ? constraints[failure.constraint] : undefined;
  if (known) return known(error);
  const reason = reasonOf(failure);
  if (!reason) return error;
  failures.inc({ reason });
  return asDatabaseFailure(unavailable(details[reason], error));
}

/** Errors that are known to be failures of the database, although their members do not show it. */
const ofDatabase = new WeakSet<object>();

/** Records that an error is a failure of the database. @returns the error */
export function asDatabaseFailure<E extends object>(error: E): E {
  ofDatabase.add(error);
  return error;
}

/** Whether an error, or its cause, is a failure of a database call or of a connection to the database. */
export function isDatabaseFailure(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if (ofDatabase.has(error)) return true;
  const failure = failureOf(error);
  const isKnown = failure !== undefined && (failure.sqlState || failure.prismaCode || failure.kind) !== '';
  return isKnown || isDatabaseFailure(member(error, 'cause'));
}

/**
 * The state of a database that could not be checked: what everybody may know, and the reason for the log. It contains
 * no password.
 */
export function unavailableDatabase(error: unknown): HealthCheck {
  const cause = error instanceof Problem ? error.cause : error;
  const failure = failureOf(cause);
  const reason = failure && (failure.driverText || lastLineOf(failure.text) || failure.systemCode);
  return { name: 'database', state: 'failed', detail: detailOf(failure), ...(reason ? { reason } : {}) };
}

function detailOf(failure: Failure | undefined): string {
  if (failure === undefined) return 'cannot be checked';
  if (failure.sqlState === INSUFFICIENT_PRIVILEGE)
    return `the role of the service lacks privileges. Run the command migrate: ${callOf('migrate')}`;
  return reasonOf(failure) === undefined ? 'cannot be checked' : 'not reachable';
}

const INSUFFICIENT_PRIVILEGE = '42501';

/** Whether PostgreSQL refused a statement, or that of the cause of an error, because of the privileges of the role. */
export function isRefused(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return failureOf(error)?.sqlState === INSUFFICIENT_PRIVILEGE || isRefused(error.cause);
}

/** The message of an error without what Prisma writes before it. */
const lastLineOf = (message: string) => message.trim().split('\n').at(-1) ?? '';

function reasonOf({ prismaCode, kind, sqlState, systemCode, text }: Failure): Reason | undefined {
  if (sqlState) return bySqlState.find(([start]) => sqlState.startsWith(start))?.[1];
  if (connectionKinds.includes(kind) || prismaCode.startsWith('P1') || isConnectionCode(systemCode))
    return 'unreachable';
  if (prismaCode) return byPrismaCode[prismaCode];
  if (timeoutMessages.test(text)) return 'timed_out';
  return unreachableMessages.test(text) ? 'unreachable' : undefined;
}

function failureOf(error: unknown): Failure | undefined {
  if (error instanceof Problem) return undefined;
  const code = text(error, 'code');
  const fromAdapter =
    text(error, 'name') === 'DriverAdapterError' ? error : member(member(error, 'meta'), 'driverAdapterError');
  const driver = member(fromAdapter, 'cause');
  const isPostgres = text(error, 'severity') !== '';
  const message = text(driver, 'originalMessage');
  return {
    prismaCode: /^P\d{4}$/.test(code) && !isPostgres ? code : '',
    kind: text(driver, 'kind'),
    sqlState: isPostgres ? code : text(driver, 'originalCode'),
    // The adapter reports the name of a unique or foreign key. For a check or exclusion, only the
    // message contains it.
    constraint:
      text(error, 'constraint') ||
      text(member(driver, 'constraint'), 'index') ||
      (/ (?:check|exclusion) constraint "([^"]+)"/.exec(message)?.[1] ?? ''),
    systemCode: isPostgres ? '' : code,
    text: text(error, 'message'),
    driverText: message,
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}
