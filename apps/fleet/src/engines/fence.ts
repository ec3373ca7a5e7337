/** On whose behalf a pass is made. */
export interface Fence {
  readonly deploymentId: string;
  /** What was made for a later one is left alone. */
  readonly generation: number;
  /** Ends the pass between two steps; what is done stays done. */
  readonly signal?: AbortSignal | undefined;
}
