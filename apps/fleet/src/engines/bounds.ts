/** What ends the work that a view of a client is for. */
export interface Bounds {
  readonly signal?: AbortSignal | undefined;
  /** Throws where the lease of the work is over: a process that was frozen goes on before it hears of anything. */
  readonly mustHold?: () => void;
}
