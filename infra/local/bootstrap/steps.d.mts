export function step<Result>(title: string, work: () => Promise<Result>): Promise<Result>;
