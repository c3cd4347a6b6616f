using System.Net;
using System.Net.Http.Json;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;

namespace ActOp.Dashboard.Tests;

/// <summary>Who may see the page, what may run in it, and what is behind it.</summary>
public class AccessTests(TwoSilos silos) : IClassFixture<TwoSilos>
{
    private static readonly EndpointMetadataCollection NoPolicy = new();

    [Theory]
    [InlineData("127.0.0.1", "localhost:5080", true)]
    [InlineData("::1", "[::1]:5080", true)]
    [InlineData("127.0.0.1", "127.0.0.1:5080", true)]
    [InlineData("::ffff:127.0.0.1", "localhost", true)]
    [InlineData("10.0.0.7", "localhost:5080", false)]
    [InlineData("127.0.0.1", "shop.example.com", false)]
    [InlineData("127.0.0.1", "localhost.example.com", false)]
    [InlineData(null, "localhost", false)]
    public void Without_a_policy_only_this_machine_is_answered(string? from, string host, bool isAnswered) =>
        Assert.Equal(isAnswered, DashboardEndpoints.MayAnswer(Request(from, host, NoPolicy)));

    [Theory]
    [InlineData("X-Forwarded-For")]
    [InlineData("Forwarded")]
    [InlineData("Via")]
    public void A_proxy_on_this_machine_is_not_this_machine(string header)
    {
        var call = Request("127.0.0.1", "localhost", NoPolicy);
        call.Request.Headers[header] = "10.0.0.7";
        Assert.False(DashboardEndpoints.MayAnswer(call));
    }

    [Fact]
    public void With_a_policy_ASP_NET_Core_decides()
    {
        foreach (var metadata in new object[] { new AuthorizeAttribute("operators"), new AllowAnonymousAttribute() })
            Assert.True(DashboardEndpoints.MayAnswer(Request("10.0.0.7", "shop.example.com", new EndpointMetadataCollection(metadata))));
    }

    [Fact]
    public async Task A_refusal_says_what_to_do_and_tells_nothing()
    {
        using var http = new HttpClient();
        foreach (var path in new[] { "/actop", "/actop/api/cluster", "/actop/dashboard.js" })
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(silos.Address, path));
            request.Headers.Host = "shop.example.com";
            var answer = await http.SendAsync(request);
            Assert.Equal(HttpStatusCode.Forbidden, answer.StatusCode);
            var text = await answer.Content.ReadAsStringAsync();
            Assert.Contains("RequireAuthorization", text, StringComparison.Ordinal);
            Assert.DoesNotContain("silo-", text, StringComparison.Ordinal);
        }

        using var open = new HttpRequestMessage(HttpMethod.Get, new Uri(silos.Address, "/open/api/cluster"));
        open.Headers.Host = "shop.example.com";
        Assert.Equal(HttpStatusCode.OK, (await http.SendAsync(open)).StatusCode);
    }

    [Fact]
    public async Task Nothing_but_its_own_files_may_run_in_the_page()
    {
        using var http = new HttpClient { BaseAddress = silos.Address };
        foreach (var path in (string[])["/actop", "/actop/", "/actop/dashboard.js", "/actop/dashboard.css", "/actop/icon.png",
            "/actop/api/cluster"])
        {
            var answer = await http.GetAsync(path);
            Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
            var policy = Assert.Single(answer.Headers.GetValues("Content-Security-Policy"));
            Assert.StartsWith("default-src 'none'; script-src 'self'; style-src 'self';", policy, StringComparison.Ordinal);
            Assert.DoesNotContain("unsafe", policy, StringComparison.Ordinal);
            Assert.Equal("nosniff", Assert.Single(answer.Headers.GetValues("X-Content-Type-Options")));
        }

        var page = await http.GetStringAsync("/actop");
        Assert.DoesNotContain("http://", page, StringComparison.Ordinal);
        Assert.DoesNotContain("https://", page, StringComparison.Ordinal);
        Assert.Contains("\"/actop/dashboard.js\"", page, StringComparison.Ordinal);
    }

    [Fact]
    public async Task It_changes_nothing()
    {
        using var http = new HttpClient { BaseAddress = silos.Address };
        foreach (var method in new[] { HttpMethod.Post, HttpMethod.Put, HttpMethod.Delete })
        {
            using var request = new HttpRequestMessage(method, "/actop/api/cluster");
            Assert.Equal(HttpStatusCode.MethodNotAllowed, (await http.SendAsync(request)).StatusCode);
        }
    }

    [Fact]
    public async Task The_JSON_has_silos_stages_classes_edges_and_members()
    {
        using var http = new HttpClient { BaseAddress = silos.Address };
        using var patience = new CancellationTokenSource(TimeSpan.FromMinutes(1));
        JsonNode page;
        // Rates need two snapshots, edges the first fold; each answer is of another second.
        do
            page = (await http.GetFromJsonAsync<JsonNode>("/actop/api/cluster", patience.Token))!;
        while (page["edges"]!.AsArray().Count == 0 || page["classes"]!.AsArray().All(static one => one!["p99"] is null));
        Assert.Equal(["silo-a", "silo-b"], page["silos"]!.AsArray().Select(static one => (string)one!["name"]!));
        Assert.All(page["silos"]!.AsArray(), static silo =>
        {
            Assert.Null(silo!["silent"]);
            Assert.True((int)silo["activations"]! > 0);
            Assert.True((double)silo["messageRate"]! > 0);
            Assert.InRange((double)silo["remoteShare"]!, 0.01, 0.99);
            Assert.Equal(["receive", "work", "silo-send", "client-send"], silo["stages"]!.AsArray().Select(
                static one => (string)one!["name"]!));
            var work = silo["stages"]![1]!;
            Assert.True((double)work["lambda"]! > 0 && (double)work["x"]! > 0 && (double)work["w"]! >= 0);
        });
        var player = page["classes"]!.AsArray().Single(static one => (string)one!["name"]! == "player")!;
        Assert.Equal(40, (int)player["activations"]!);
        Assert.True((double)player["callRate"]! > 0 && (double)player["median"]! <= (double)player["p99"]!);
        Assert.Contains(page["edges"]!.AsArray(), static edge => (string)edge!["one"]! == "game" && (string)edge["other"]! == "player"
            && (double)edge["rate"]! > 0);
        Assert.Equal(2, page["members"]!.AsArray().Count(static one => (string)one!["status"]! == "Active"));
    }

    [Fact]
    public void A_host_without_a_silo_is_refused()
    {
        using var app = WebApplication.CreateBuilder().Build();
        Assert.Contains("UseOrleans", Assert.Throws<InvalidOperationException>(() => app.MapActOpDashboard()).Message,
            StringComparison.Ordinal);
    }

    private static DefaultHttpContext Request(string? from, string host, EndpointMetadataCollection metadata)
    {
        var call = new DefaultHttpContext();
        call.Connection.RemoteIpAddress = from is null ? null : IPAddress.Parse(from);
        call.Request.Host = new HostString(host);
        call.SetEndpoint(new Endpoint(null, metadata, "dashboard"));
        return call;
    }
}
