import type { Endpoint } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { hubEndpoints } from '@svc/contract/hub';
import type { Plugin } from 'vite';

const tables: Readonly<Record<string, Readonly<Record<string, Endpoint>>>> = {
  'virtual:endpoints/hub': hubEndpoints,
  'virtual:endpoints/fleet': fleetEndpoints,
};

/**
 * The part of the contract that a browser needs to call the endpoints: method, path, tag, status,
 * access, and the media type of an upload, without the schemas. The types of the client come from the contract itself.
 */
export const endpointTables = (): Plugin => ({
  name: 'endpoint-tables',
  resolveId: (id) => (id in tables ? `\0${id}` : undefined),
  load: (id) => {
    const endpoints = id.startsWith('\0') ? tables[id.slice(1)] : undefined;
    return endpoints && `export default ${JSON.stringify(rowsOf(endpoints))};`;
  },
});

const rowsOf = (endpoints: Readonly<Record<string, Endpoint>>) =>
  Object.fromEntries(
    Object.entries(endpoints).map(([name, { method, path, tag, status, access, upload }]) => [
      name,
      [method.toUpperCase(), path, tag, status, access, ...(upload ? [upload.type] : [])],
    ]),
  );
