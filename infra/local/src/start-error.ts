/** The product cannot start or continue, for a reason that the user can resolve. */
export class StartError extends Error {}
