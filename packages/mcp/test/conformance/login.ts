/** A person who signs in wherever an authorization server asks, and what is known of the client at each. */
import type {
  OAuthClientInformationContext,
  OAuthClientProvider,
  OAuthClientMetadata,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { McpLogin } from "../../src/client/index.ts";

const metadataUrl = "https://conformance-test.local/client-metadata.json";
const redirectUrl = "http://localhost:8090/callback";

interface Credentials {
  readonly client_id?: string;
  readonly client_secret?: string;
}

class Provider implements OAuthClientProvider {
  readonly clientMetadataUrl = metadataUrl;
  readonly redirectUrl = redirectUrl;
  readonly #given: Credentials;
  readonly #clients = new Map<string, StoredOAuthClientInformation>();
  readonly #tokens = new Map<string, StoredOAuthTokens>();
  #newest: StoredOAuthTokens | undefined;
  #verifier = "";
  #discovered: OAuthDiscoveryState | undefined;
  arrived: Promise<URLSearchParams> = Promise.resolve(new URLSearchParams());

  constructor(given: Credentials) {
    this.#given = given;
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: "pawl",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    };
  }

  clientInformation(context?: OAuthClientInformationContext): StoredOAuthClientInformation | undefined {
    const { client_id: id, client_secret: secret } = this.#given;
    if (id !== undefined) return { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }) };
    return this.#clients.get(context?.issuer ?? "");
  }
  saveClientInformation(information: StoredOAuthClientInformation, context?: OAuthClientInformationContext): void {
    this.#clients.set(context?.issuer ?? "", information);
  }
  tokens(context?: OAuthClientInformationContext): StoredOAuthTokens | undefined {
    return context === undefined ? this.#newest : this.#tokens.get(context.issuer);
  }
  saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): void {
    this.#tokens.set(context?.issuer ?? "", tokens);
    this.#newest = tokens;
    this.#discovered = undefined; // The next sign-in asks the resource again: its server may be another one then.
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }
  redirectToAuthorization(url: URL): void {
    this.arrived = fetch(url, { redirect: "manual" }).then((response) => {
      const at = response.headers.get("location");
      if (at === null) throw new Error(`the authorization server answered ${response.status} without a location`);
      return new URL(at, url).searchParams;
    });
    this.arrived.catch(() => undefined); // Heard by whoever waits for the person.
  }
}

/** Signs in at once. */
export const signedIn = (given: Credentials): McpLogin => {
  const provider = new Provider(given);
  return { provider, callback: () => provider.arrived };
};
