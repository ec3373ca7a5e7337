import type {
  CompleteRequestParams,
  CompleteResult,
  ListResourcesResult,
  ReadResourceResult,
  ResourceTemplateType,
} from '@modelcontextprotocol/server';
import type { Tool } from '@svc/contract';
import type { Ask } from './operations.ts';
import type { McpPrompt } from './prompts.ts';
import type { ToolContext, ToolHandlers } from './tool-handlers.ts';

/** What a service offers to agents. */
export interface McpService<Tools extends Readonly<Record<string, Tool>>> extends AnyMcpService {
  readonly tools: Tools;
  readonly handlers: ToolHandlers<Tools>;
  /** The tools that wait, of which a principal can call fewer at the same time. */
  readonly waitingTools: readonly (keyof Tools & string)[];
}

/** A service with any tools. */
export interface AnyMcpService {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /**
   * What a model should know before it uses the tools. Some clients cut it after 2,000 characters.
   */
  readonly instructions: string;
  readonly tools: Readonly<Record<string, Tool>>;
  readonly handlers: Readonly<Record<string, (given: never, context: ToolContext) => Promise<unknown>>>;
  readonly waitingTools: readonly string[];
  readonly resources: {
    readonly templates: readonly ResourceTemplateType[];
    list(ask: Ask, cursor: string | undefined): Promise<ListResourcesResult>;
    /** @throws 404 for a URI that names nothing */
    read(ask: Ask, uri: string): Promise<ReadResourceResult>;
  };
  readonly prompts: readonly McpPrompt[];
  complete(ask: Ask, request: CompleteRequestParams): Promise<CompleteResult>;
}
