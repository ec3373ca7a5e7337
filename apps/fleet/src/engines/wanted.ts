/** Of what is to run on any engine, beside its manifest. */
export interface Running {
  readonly kind: 'running';
  /** This generation ran before: what is missing now has been taken away by somebody. */
  readonly settled?: boolean;
  /** Names of volumes that were there before: one that is gone is lost, and not made anew. */
  readonly bound?: readonly string[];
}

/** What is to end. */
export type Ending =
  | { readonly kind: 'stopped' }
  /** Nothing, for good; the volumes named go with it. */
  | { readonly kind: 'gone'; readonly volumes: readonly string[] };
