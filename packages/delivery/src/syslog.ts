import { hostname } from 'node:os';
import { failedConnection } from '@svc/http';
import type { Target } from './delivery.ts';
import { EndedEarly, exchange, type Receiver } from './exchange.ts';

/** Facility 13, `log audit`, with severity 6, `informational` (RFC 5424, section 6.2.1). */
const PRIORITY = 13 * 8 + 6;

interface Options {
  /** The receiver, for the next batch. */
  readonly receiver: () => Receiver;
  /** APP-NAME of the messages: at most 48 printable ASCII characters. */
  readonly appName: string;
  /** MSGID of the messages: at most 32 printable ASCII characters. */
  readonly messageId: string;
  /** What an operator does if the certificate of the receiver is not signed by a trusted authority. */
  readonly untrusted: string;
}

/**
 * Sends rows as messages of syslog (RFC 5424) over TLS, with their lengths (RFC 5425). Each batch has a
 * connection of its own, because only the end of a connection has an answer: syslog itself confirms
 * nothing.
 */
export function syslogTarget({ receiver, appName, messageId, untrusted }: Options): Target {
  const head = [headOf(hostname()), appName, '-', messageId, '-'].join(' ');
  let answersEnd = false;
  return {
    format: ({ at, data }) => {
      // ASCII, so that the length in characters is the length in bytes, and the message needs no BOM.
      const message = `<${PRIORITY}>1 ${at.toISOString()} ${head} ${asciiJson(data)}`;
      return `${message.length} ${message}`;
    },
    send: async (rows, signal) => {
      try {
        // The first connection tells whether the receiver answers the end of connections. If it does,
        // the end without an answer means that it was killed.
        if (!answersEnd) answersEnd = await exchange(receiver(), '', signal);
        const isAnswered = await exchange(receiver(), rows.join(''), signal);
        if (answersEnd && !isAnswered) throw new EndedEarly('The receiver did not answer the end of the connection.');
      } catch (cause) {
        throw new Error(connectionFailure(cause, untrusted), { cause });
      }
    },
  };
}

/** Why a receiver of syslog cannot be used. For operators; it contains no text of the receiver. */
export const connectionFailure = (error: unknown, untrusted: string): string =>
  error instanceof EndedEarly
    ? 'The syslog receiver ended the connection before it confirmed what it had received. It has stopped, or does not accept this client.'
    : failedConnection('the syslog receiver', error, { untrusted }).text;

const MAX_HOSTNAME = 255;

/** HOSTNAME of a message: printable ASCII. */
const headOf = (name: string): string => (/^[\x21-\x7e]+$/.test(name) ? name.slice(0, MAX_HOSTNAME) : '-');

const asciiJson = (data: object): string =>
  JSON.stringify(data).replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
