using System.Net;
using System.Reflection;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace ActOp.Dashboard;

/// <summary>The page, its files and its JSON, and who may see them.</summary>
/// <remarks>Any thread. The files are part of the assembly and are read once.</remarks>
internal static class DashboardEndpoints
{
    /// <summary>Only the files of this assembly, and nothing inline: text of a cluster that a page shows cannot become a script.</summary>
    private const string ContentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private const string Root = "{root}";

    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web);

    internal static IEndpointConventionBuilder Map(IEndpointRouteBuilder endpoints, string path, DashboardFeed feed)
    {
        var group = endpoints.MapGroup(path);
        group.AddEndpointFilter(static async (call, next) =>
        {
            SetHeaders(call.HttpContext.Response.Headers);
            return MayAnswer(call.HttpContext) ? await next(call).ConfigureAwait(false) : Refused();
        });
        group.ExcludeFromDescription();
        var page = Encoding.UTF8.GetString(Read("index.html"));
        // Addresses in the page are whole, because "/actop" and "/actop/" both lead to it.
        group.MapGet("/", (HttpRequest request) => TypedResults.Content(
            page.Replace(Root, request.PathBase + path, StringComparison.Ordinal), "text/html; charset=utf-8"));
        MapFile(group, "dashboard.js", "text/javascript; charset=utf-8");
        MapFile(group, "dashboard.css", "text/css; charset=utf-8");
        MapFile(group, "icon.png", "image/png");
        group.MapGet("/api/cluster", async (CancellationToken gone) =>
            TypedResults.Json(await feed.GetAsync(gone).ConfigureAwait(false), Json));
        return group;
    }

    /// <summary>
    /// Whether a request may be answered without a policy: it must come from this machine, and not through a proxy on it; and it must ask
    /// for this machine, or a page of another site could read the answers under a name of its own that leads to loopback.
    /// </summary>
    internal static bool MayAnswer(HttpContext call)
    {
        var metadata = call.GetEndpoint()?.Metadata;
        if (metadata?.GetMetadata<IAuthorizeData>() is not null || metadata?.GetMetadata<AuthorizationPolicy>() is not null
            || metadata?.GetMetadata<IAllowAnonymous>() is not null)
        {
            return true;
        }

        var headers = call.Request.Headers;
        return call.Connection.RemoteIpAddress is { } from && IPAddress.IsLoopback(from)
            && !headers.ContainsKey("Forwarded") && !headers.ContainsKey("X-Forwarded-For") && !headers.ContainsKey("Via")
            && (call.Request.Host.Host is "localhost"
                || (IPAddress.TryParse(call.Request.Host.Host.Trim('[', ']'), out var host) && IPAddress.IsLoopback(host)));
    }

    private static IResult Refused() => TypedResults.Text(
        "The dashboard of ActOp answers only to this machine, because it has no policy. To open it, name one:"
        + " app.MapActOpDashboard(...).RequireAuthorization(\"POLICY\"). To look at it now, forward a port: ssh -L, or kubectl"
        + " port-forward.",
        statusCode: StatusCodes.Status403Forbidden);

    private static void SetHeaders(IHeaderDictionary headers)
    {
        headers.ContentSecurityPolicy = ContentPolicy;
        headers.XContentTypeOptions = "nosniff";
        headers["Referrer-Policy"] = "no-referrer";
        headers.CacheControl = "no-store";
    }

    private static void MapFile(RouteGroupBuilder group, string name, string type)
    {
        var content = Read(name);
        group.MapGet("/" + name, () => TypedResults.Bytes(content, type));
    }

    private static byte[] Read(string name)
    {
        using var stream = Assembly.GetExecutingAssembly().GetManifestResourceStream(name)
            ?? throw new InvalidOperationException("The file " + name + " is missing in the assembly.");
        var content = new byte[stream.Length];
        stream.ReadExactly(content);
        return content;
    }
}
