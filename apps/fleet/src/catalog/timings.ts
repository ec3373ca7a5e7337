/** Periods and delays of the sync of the catalog, in milliseconds. */
export interface CatalogTimings {
  /** Duration of the lease of a run. If a run does not renew it for this time, another run can acquire it. */
  readonly lease: number;
  /** Wait between two renewals of the lease. */
  readonly renewal: number;
  /** Wait before another attempt to acquire a lease that another run holds, plus or minus 50 percent. */
  readonly leaseRetry: number;
  /** Longest wait before a replica reads the schedule again. A changed setting takes effect within this time. */
  readonly recheck: number;
  /** Wait after a failure of the sync or the database if no next attempt is scheduled. */
  readonly afterError: number;
  /** Shortest wait before the schedule is read again. */
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
