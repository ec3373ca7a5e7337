/** The part of the contract that the client needs at run time; see build/endpoint-tables.ts. */
type EndpointRow = readonly [method: string, path: string, tag: string, status: number, access: string];

declare module 'virtual:endpoints/hub' {
  const table: Readonly<Record<string, EndpointRow>>;
  export default table;
}

declare module 'virtual:endpoints/fleet' {
  const table: Readonly<Record<string, EndpointRow>>;
  export default table;
}

declare module '*.css';

declare module 'virtual:texts/*' {
  import type { MessageFormatElement } from '@formatjs/icu-messageformat-parser';

  const catalogue: Readonly<Record<string, string | MessageFormatElement[]>>;
  export default catalogue;
}
