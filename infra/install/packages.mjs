// The packages of a release, and what each of them contains.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pinnedNode } from '../local/bootstrap/pinned-node.mjs';

const root = path.resolve(import.meta.dirname, '../..');

/** The authorities of the machine, the libraries that Node and the hashing of passwords need, and what the scripts of services use. */
const NODE_DEPENDS = 'ca-certificates, libatomic1, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 9)';
const SERVICE_DEPENDS = `${NODE_DEPENDS}, init-system-helpers, passwd, util-linux`;

/**
 * `fill(target, epoch)` writes the files of a package to an empty folder, with their paths from the root of a machine; `epoch` is the time of
 * the release, in seconds. `conffiles` are those that the administrator changes. `modes` are those of files and folders that are not 644
 * or 755. `scripts` are the maintainer scripts of the Debian package, by name.
 */
export const PACKAGES = [
  service({
    name: 'hub',
    summary: 'catalog of deployable templates',
    description: 'The hub serves a catalog of templates to fleets, with visibility by organization, and a console.',
  }),
  service({
    name: 'fleet',
    summary: 'control plane for container hosts and Kubernetes clusters',
    description:
      'The fleet mirrors the catalog of a hub, and runs deployments on Docker and Podman hosts and Kubernetes clusters.',
  }),
  client(),
];

function service({ name, summary, description }) {
  const id = `svc-${name}`;
  const conffile = `etc/${id}/${name}.env`;
  const texts = { package: id, service: name };
  return {
    name: id,
    control: { Depends: SERVICE_DEPENDS, Suggests: 'nginx, postgresql', Description: `${summary}\n ${description}` },
    conffiles: [conffile],
    modes: { [conffile]: 0o640, [`etc/${id}/secrets`]: 0o750 },
    scripts: Object.fromEntries(
      ['postinst', 'prerm', 'postrm'].map((script) => [script, template(`debian/${script}`, texts)]),
    ),
    fill: (target, epoch) => {
      const at = (file) => path.join(target, file);
      const share = `usr/share/${id}`;
      const node = installProgram(id, name, target);
      write(at(`usr/bin/${id}`), template('run.sh', texts), 0o755);
      write(at(conffile), read(`infra/install/${name}.env`));
      mkdirSync(at(`etc/${id}/secrets`));
      for (const unit of [`${id}.service`, `${id}-migrate.service`])
        copy(`infra/systemd/${unit}`, at(`usr/lib/systemd/system/${unit}`));
      copy('infra/install/create-database.sql', at(`${share}/create-database.sql`));
      copy(`infra/proxy/nginx-${name}.conf`, at(`${share}/nginx.conf`));
      for (const example of ['haproxy.cfg', 'Caddyfile']) copy(`infra/proxy/${example}`, at(`${share}/${example}`));
      write(at(`${share}/create-database`), template('create-database.sh', texts), 0o755);
      for (const alerts of ['service', name])
        copy(`infra/observability/alerts/${alerts}.yaml`, at(`${share}/alerts/${alerts}.yaml`));
      document(id, target, { pages: globSync('docs/*.md', { cwd: root }), node, epoch });
    },
  };
}

/** The command line client, with its completions for the shells of Debian. */
function client() {
  const id = 'svc-cli';
  const file = `usr/lib/${id}/apps/cli/dist/svc.mjs`;
  return {
    name: id,
    // daemontools has a program of the same name.
    control: {
      Depends: NODE_DEPENDS,
      Conflicts: 'daemontools',
      Description:
        'command line client of hubs and fleets\n The client svc deploys templates, reads logs, and manages hubs and fleets from a terminal or a script.',
    },
    fill: (target, epoch) => {
      const at = (name) => path.join(target, name);
      const node = installProgram(id, 'cli', target);
      write(at('usr/bin/svc'), `#!/bin/sh\nexec /usr/lib/${id}/bin/node --use-system-ca /${file} "$@"\n`, 0o755);
      for (const [shell, place] of [
        ['bash', 'usr/share/bash-completion/completions/svc'],
        ['zsh', 'usr/share/zsh/vendor-completions/_svc'],
        ['fish', 'usr/share/fish/vendor_completions.d/svc.fish'],
      ])
        write(at(place), run(process.execPath, [at(file), 'completion', shell]));
      document(id, target, { pages: ['docs/command-line.md'], node, epoch });
    },
  };
}

/** Writes a program of the repository with its Node. @returns the version of Node */
function installProgram(id, program, target) {
  const folder = path.join(target, `usr/lib/${id}`);
  run(process.execPath, [path.join(root, 'infra/docker/assemble.mjs'), program, folder]);
  return installNode(folder);
}

function document(id, target, { pages, node, epoch }) {
  const at = (file) => path.join(target, `usr/share/doc/${id}`, file);
  for (const page of pages) copy(page, at(page));
  copy('CHANGELOG.md', at('CHANGELOG.md'));
  write(at('copyright'), copyright(id, node, epoch));
}

function read(file) {
  return readFileSync(path.join(root, file), 'utf8');
}

function copy(from, to) {
  cpSync(path.join(root, from), to, { recursive: true });
}

function write(file, text, mode = 0o644) {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
}

/** A file of this folder in which `@name@` is replaced. */
function template(file, texts) {
  return read(`infra/install/${file}`).replace(/@(\w+)@/g, (_, name) => {
    if (!Object.hasOwn(texts, name)) throw new Error(`infra/install/${file}: @${name}@ is not known`);
    return texts[name];
  });
}

/** @returns what a program writes to stdout */
function run(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}

/** Adds the pinned Node for the platform of this process, whose checksum pnpm has verified, with its licence. @returns its version */
function installNode(target) {
  const node = pinnedNode(root);
  if (node === undefined) throw new Error(`There is no pinned Node for ${process.platform} on ${process.arch}.`);
  const folder = path.resolve(node, '../..');
  const { version } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  mkdirSync(path.join(target, 'bin'));
  cpSync(node, path.join(target, 'bin/node'));
  cpSync(path.join(folder, 'LICENSE'), path.join(target, 'LICENSE.node'));
  addToBill(path.join(target, 'sbom.cdx.json'), version);
  return version;
}

/** Node is not a package of the bundle, so the bill of materials does not contain it yet. */
function addToBill(file, version) {
  const bill = JSON.parse(readFileSync(file, 'utf8'));
  const ref = `pkg:generic/node@${version}`;
  bill.components.push({
    type: 'platform',
    'bom-ref': ref,
    name: 'node',
    version,
    purl: ref,
    licenses: [{ license: { name: 'Node.js license, in LICENSE.node' } }],
  });
  bill.dependencies.push({ ref, dependsOn: [] });
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
}

/** In the form of https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/. */
const copyright = (id, node, epoch) => `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: svc
Comment: /usr/lib/${id}/THIRD-PARTY-LICENSES.txt contains the licences of the npm packages, and
 /usr/lib/${id}/LICENSE.node those of Node ${node} and its parts.

Files: *
Copyright: ${new Date(epoch * 1000).getUTCFullYear()} the authors of svc
License: Apache-2.0
 /usr/lib/${id}/LICENSE contains the licence, as /usr/share/common-licenses/Apache-2.0 does.
`;
