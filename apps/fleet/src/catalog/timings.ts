/** Periods and delays of the sync of the catalog, in milliseconds. */
export interface CatalogTimings {
  /** Lease of a sync run. A run that has not renewed it for this long counts as dead, and another run may begin. */
  readonly lease: number;
  /** Wait between two renewals of the lease. */
  readonly renewal: number;
  /** Wait before a lease that another run holds is asked for again, plus or minus a half. */
  readonly leaseRetry: number;
  /** Longest wait before a replica reads the plan of the next sync again. A changed setting takes effect after it. */
  readonly recheck: number;
  /** Wait after a sync or the database failed and no next attempt is planned. */
  readonly afterError: number;
  /** Shortest wait between two looks at the plan. */
  readonly shortest: number;
}

export const DEFAULT_TIMINGS: CatalogTimings = {
  lease: 15_000,
  renewal: 4000,
  leaseRetry: 150,
  recheck: 15_000,
  afterError: 5000,
  shortest: 50,
};
