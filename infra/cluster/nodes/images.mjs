// Images for the real nodes, made from the static BusyBox and catatonit of Debian, as archives that `ctr images import` reads.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { programIn } from '../lab/build.mjs';
import { MIRROR, PAUSE_IMAGE, SIDECAR_IMAGE } from './config.mjs';

const BUSYBOX_IMAGES = ['docker.io/library/busybox:1.37', 'docker.io/library/busybox:1.36', SIDECAR_IMAGE];
const ARCHITECTURE = { x64: 'amd64', arm64: 'arm64' }[process.arch];
const PASSWD = 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n';

/**
 * A stand-in serves HTTP on the ports in STAND_IN_PORTS, ignores its arguments, and ends at once with STAND_IN_ENDS. It runs as any user. Its log
 * names the user.
 */
const STAND_IN = `#!/bin/sh
echo "stand-in runs as $(id -u):$(id -g)"
trap 'exit 0' TERM INT
[ -z "$STAND_IN_ENDS" ] || exit 0
for port in $STAND_IN_PORTS; do httpd -f -p "$port" -h /www & done
while :; do
  sleep 3600 &
  wait $!
done
`;

/** Writes the archive with the images that each node needs. @returns its file */
export function writeBaseArchive(build, folder) {
  const pause = layerOf(path.join(folder, 'pause'), (root) => {
    addProgram(root, 'bin/catatonit', programIn(build, 'catatonit'));
  });
  const busybox = layerOf(path.join(folder, 'busybox'), (root) => addBusybox(build, root));
  return writeArchive(path.join(folder, 'base'), [
    { tags: [PAUSE_IMAGE], layer: pause, config: { Entrypoint: ['/bin/catatonit', '-P'], User: '65534:65534' } },
    { tags: withMirror(BUSYBOX_IMAGES), layer: busybox, config: { Cmd: ['sh'] } },
  ]);
}

/**
 * Writes an archive with stand-ins for images. Each has its reference (such as `docker.io/library/redis:7.4.2`), a `user` (such as `1000:1000`,
 * or an empty text for root), the TCP `ports`, the `paths` of the HTTP checks, the `programs` that checks execute, and `ends`, true for a job.
 *
 * @returns its file
 */
export function writeStandIns(build, folder, standIns) {
  const all = (member) => [...new Set(standIns.flatMap((each) => each[member]))];
  const layer = layerOf(path.join(folder, 'stand-in'), (root) => {
    addBusybox(build, root);
    addScript(root, 'stand-in', STAND_IN);
    for (const program of all('programs')) addScript(root, path.posix.join('usr/bin', program), '#!/bin/sh\nexit 0\n');
    for (const each of ['/', ...all('paths')]) addFile(root, path.posix.join('www', each, 'index.html'), 'ok\n');
  });
  const images = standIns.map(({ reference, user, ports, ends }) => ({
    ...{ tags: withMirror([reference]), layer },
    config: {
      ...{ Entrypoint: ['/stand-in'], User: user, WorkingDir: '/' },
      Env: ['PATH=/usr/bin:/bin', `STAND_IN_PORTS=${ports.join(' ')}`, ...(ends ? ['STAND_IN_ENDS=1'] : [])],
    },
  }));
  return writeArchive(path.join(folder, 'stand-ins'), images);
}

/** The references, and those that the mutating webhook creates from them. */
const withMirror = (references) => [...references, ...references.map((each) => each.replace(/^docker\.io/, MIRROR))];

/** Creates a layer with the files that `fill` writes. @returns its archive and the digest */
function layerOf(folder, fill) {
  rmSync(folder, { recursive: true, force: true });
  const root = path.join(folder, 'root');
  mkdirSync(path.join(root, 'tmp'), { recursive: true });
  fill(root);
  chmodSync(path.join(root, 'tmp'), 0o1777);
  const file = path.join(folder, 'layer.tar');
  execFileSync('tar', [
    '-C',
    root,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--sort=name',
    '--mtime=@0',
    '-cf',
    file,
    '.',
  ]);
  return { file, digest: createHash('sha256').update(readFileSync(file)).digest('hex') };
}

function addBusybox(build, root) {
  const busybox = programIn(build, 'busybox');
  addProgram(root, 'bin/busybox', busybox);
  const names = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  for (const name of names.filter((each) => each !== 'busybox')) symlinkSync('busybox', path.join(root, 'bin', name));
  addFile(root, 'etc/passwd', PASSWD);
}

function addProgram(root, name, source) {
  const target = path.join(root, name);
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(source, target);
  chmodSync(target, 0o755);
}

function addFile(root, name, content) {
  const target = path.join(root, name);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, content);
  return target;
}

const addScript = (root, name, content) => chmodSync(addFile(root, name, content), 0o755);

/** Writes a Docker archive. Images with the same layer share its file. */
function writeArchive(folder, images) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const manifest = images.map(({ tags, layer, config }, index) => {
    copyFileSync(layer.file, path.join(folder, `${layer.digest}.tar`));
    const rootfs = { type: 'layers', diff_ids: [`sha256:${layer.digest}`] };
    writeFileSync(
      path.join(folder, `${index}.json`),
      JSON.stringify({ architecture: ARCHITECTURE, os: 'linux', config, rootfs }),
    );
    return { Config: `${index}.json`, RepoTags: tags, Layers: [`${layer.digest}.tar`] };
  });
  writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  execFileSync('tar', ['-C', folder, '-cf', `${folder}.tar`, '.']);
  return `${folder}.tar`;
}
