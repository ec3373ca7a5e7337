/**
 * What a proxy does with a request: it forwards the request, rejects it, closes the connection,
 * loses the response, never responds, or forwards the request later and loses the response.
 */
export type ProxyFault = 'passed' | 'refused' | 'reset' | 'lost' | 'hangs' | 'late';

/** Failures with their weights. Few requests hang, because each blocks a worker for a long time. */
const WRONG: readonly ProxyFault[] = [
  ...Array<ProxyFault>(24).fill('refused'),
  ...Array<ProxyFault>(12).fill('reset'),
  ...Array<ProxyFault>(12).fill('lost'),
  'hangs',
];

/** A random fault, where the given share of requests fails. */
export const randomFault = (share: number): ProxyFault =>
  Math.random() < share ? (WRONG[Math.floor(Math.random() * WRONG.length)] ?? 'refused') : 'passed';
