/** The part of the contract that the client needs at run time; see build/endpoint-tables.ts. */
type EndpointRow = readonly [
  method: string,
  path: string,
  tag: string,
  status: number,
  access: string,
  upload?: string,
];

declare module 'virtual:endpoints/hub' {
  const table: Readonly<Record<string, EndpointRow>>;
  export default table;
}

declare module 'virtual:endpoints/fleet' {
  const table: Readonly<Record<string, EndpointRow>>;
  export default table;
}

/** What the contract declares for the forms of templates; see build/template-controls.ts. */
declare module 'virtual:template-controls' {
  import type { TemplateControl } from '@svc/contract';

  const controls: readonly TemplateControl[];
  export default controls;
}

declare module '*.css';

declare module 'virtual:texts/*' {
  import type { MessageFormatElement } from '@formatjs/icu-messageformat-parser';

  const catalogue: Readonly<Record<string, string | MessageFormatElement[]>>;
  export default catalogue;
}
