export declare function violationsOf(level: 'baseline' | 'restricted', pod: object): string[];
