import { spawnSync } from 'node:child_process';
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type PublicKey, publicKeyOfPem, type Signer } from '@svc/trust';

/** How long a program can take to sign, for example until somebody touches a hardware key. */
const SIGNER_TIMEOUT_MS = 120_000;
const RAW_BYTES = 64;

/**
 * The signer with a private key in a file, or with a program that has the key; the file then contains the public one.
 * @throws Error if the file has no such key
 */
export async function openSigner(file: string, program?: string): Promise<Signer> {
  const pem = readKeyFile(file);
  const key = await publicKeyIn(pem, file);
  if (program !== undefined) return { key, sign: (input) => rawSignature(run(program, input), key, program) };
  const privateKey = privateKeyOf(pem, file);
  const hash = key.alg === 'ES256' ? 'sha256' : null;
  return { key, sign: (input) => sign(hash, input, { key: privateKey, dsaEncoding: 'ieee-p1363' }) };
}

/** The public key in a file, which can contain the private one. @throws Error */
export const readPublicKeyFile = async (file: string): Promise<PublicKey> => publicKeyIn(readKeyFile(file), file);

const readKeyFile = (file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch {
    throw new Error(`${file}: cannot be read.`);
  }
};

const publicKeyIn = (pem: Buffer, file: string): Promise<PublicKey> =>
  publicKeyOfPem(pem).catch((error: unknown) => {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`);
  });

function privateKeyOf(pem: Buffer, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error(
      `${file}: must contain a private key. With a public key, specify the program that signs: --signer.`,
    );
  }
}

/** Runs a program, which receives what is signed on stdin and prints the signature. */
function run(program: string, input: Buffer): Buffer {
  const { status, signal, stdout, stderr } = spawnSync('/bin/sh', ['-c', program], {
    input,
    timeout: SIGNER_TIMEOUT_MS,
    maxBuffer: 64 * 1024,
  });
  if (status === 0) return stdout;
  const reason = signal === null ? `exit code ${status}` : `ended by ${signal}`;
  throw new Error(`The program ${program} did not sign (${reason}): ${stderr.toString('utf8').trim().slice(0, 500)}`);
}

/** The signature of a program: 64 bytes, or DER, which most programs write for a P-256 key. */
function rawSignature(signature: Buffer, { alg }: PublicKey, program: string): Buffer {
  if (signature.length === RAW_BYTES) return signature;
  const raw = alg === 'ES256' ? rawOfDer(signature) : undefined;
  if (raw) return raw;
  throw new Error(
    `The program ${program} must print the bytes of a signature: 64, or for a P-256 key also DER. It printed ${signature.length} bytes.`,
  );
}

/** The two numbers of a signature in DER, each with 32 bytes; undefined if it is none. */
function rawOfDer(der: Buffer): Buffer | undefined {
  const [sequence, length, ...rest] = der;
  if (sequence !== 0x30 || length !== rest.length) return undefined;
  const first = integerAt(der, 2);
  const second = first && integerAt(der, first.end);
  if (!second || second.end !== der.length) return undefined;
  return Buffer.concat([first.value, second.value]);
}

function integerAt(der: Buffer, start: number): { readonly value: Buffer; readonly end: number } | undefined {
  const length = der[start + 1];
  if (der[start] !== 0x02 || length === undefined) return undefined;
  const end = start + 2 + length;
  const digits = der.subarray(start + 2, end);
  const significant = digits.subarray(digits.findIndex((byte) => byte !== 0));
  if (end > der.length || significant.length > RAW_BYTES / 2) return undefined;
  return { value: Buffer.concat([Buffer.alloc(RAW_BYTES / 2 - significant.length), significant]), end };
}
