import { fleetEndpoints } from '../fleet/index.ts';
import { hubEndpoints } from '../hub/index.ts';
import type { Service } from './document.ts';

/** The hub, for its OpenAPI document. */
export const hubService: Service = {
  title: 'Hub',
  description:
    'A catalog of deployable templates in public and private categories. Responses contain what is visible to the caller.',
  endpoints: hubEndpoints,
  open: ['catalog', 'anyone'],
  problems: ['organization_suspended', 'user_blocked'],
  tags: {
    catalog: 'The templates and categories that are visible to the caller',
    auth: 'Sign-in to the console and to svc, sessions and sign-out',
    account: 'The profile, the organization and the API keys of the caller',
    admin: 'Administration of the catalog, of organizations, users, API keys and service tokens, and the audit log',
    publish: 'Publishing from files, for programs with a service token and for administrators',
    diagnosis: 'What is wrong with a running hub, for administrators',
  },
};

/** The fleet, for its OpenAPI document. */
export const fleetService: Service = {
  title: 'Fleet',
  description: 'A control plane that mirrors the catalog of a hub and deploys templates on hosts and clusters.',
  endpoints: fleetEndpoints,
  open: ['anyone'],
  problems: ['user_blocked'],
  tags: {
    auth: 'Sign-in, sessions and sign-out',
    catalog: 'The mirror of the catalog of the hub, and its sync',
    users: 'Users and their roles',
    tokens: 'MCP tokens: credentials for programs',
    settings: 'Settings of the identity provider and the hub, which can change while the fleet runs',
    audit: 'The audit log',
    hosts: 'Machines with a Docker or Podman engine, and the nodes of clusters',
    clusters: 'Kubernetes clusters',
    workloads: 'What runs: image, command, environment, ports, volumes and resources',
    deployments: 'Workloads that run on a host or a cluster',
    'update-runs': 'Updates of several deployments together',
    plans: 'Changes that files describe, shown before they are made, and files of what exists',
    applications: 'Several deployments that are created, changed and deleted together',
    storage: 'Volumes',
    secrets: 'Values for workloads that the API never returns',
    events: 'What became worse, and what recovered: hosts, clusters, deployments and the mirror of the catalog',
    changes: 'The changes of all lists, as a stream',
    diagnosis: 'What is wrong with a running fleet, for admins',
  },
};
