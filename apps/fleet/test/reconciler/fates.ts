/**
 * What a proxy does with a request. It passes it on, refuses it, closes the connection, loses the answer, never answers, or
 * passes it on later and loses the answer.
 */
export type Fate = 'passed' | 'refused' | 'reset' | 'lost' | 'hangs' | 'late';

/** Failures with their weights. Few requests hang, as each blocks a worker for long. */
const WRONG: readonly Fate[] = [
  ...Array<Fate>(24).fill('refused'),
  ...Array<Fate>(12).fill('reset'),
  ...Array<Fate>(12).fill('lost'),
  'hangs',
];

/** A random fate, where this share of requests fails. */
export const anyFate = (share: number): Fate =>
  Math.random() < share ? (WRONG[Math.floor(Math.random() * WRONG.length)] ?? 'refused') : 'passed';
