/**
 * What becomes of a request: it is passed on, or refused in its own words, or the answer to it is lost, or there never is one, or it
 * is under way until it is let go, whether anybody waits for it or not.
 */
export type Fate = 'passed' | 'refused' | 'reset' | 'lost' | 'hangs' | 'late';

/** How requests go wrong, as often as they stand here; few hang, as each holds up a worker for long. */
const WRONG: readonly Fate[] = [
  ...Array<Fate>(24).fill('refused'),
  ...Array<Fate>(12).fill('reset'),
  ...Array<Fate>(12).fill('lost'),
  'hangs',
];

/** What becomes of a request where a share of them goes wrong. */
export const anyFate = (share: number): Fate =>
  Math.random() < share ? (WRONG[Math.floor(Math.random() * WRONG.length)] ?? 'refused') : 'passed';
