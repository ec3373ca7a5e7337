/** The product can't be started or can't go on, for a reason that the person at the terminal can act on. */
export class StartError extends Error {}
