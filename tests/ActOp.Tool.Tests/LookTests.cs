using ActOp.Management.Operations;
using ActOp.Tool.Checks;

namespace ActOp.Tool.Tests;

/// <summary>Commands that look, who may use them, and what they return.</summary>
public sealed class LookTests(OperatedSilos cluster) : IClassFixture<OperatedSilos>
{
    private static readonly string[] Looks = ["status", "silos", "grains", "members", "check"];

    public static TheoryData<string> Commands => [.. Looks];

    [Theory]
    [MemberData(nameof(Commands))]
    public async Task An_operator_sees_the_cluster_as_a_table_and_as_JSON(string command)
    {
        await cluster.GrainsOf(0).GetGrain<ICartGrain>("seen").Add();
        var table = await ToolRun.RunAsync(cluster.Gateway, command);
        Assert.True(table.Code == ExitCode.Done, table.Text + table.Errors);
        Assert.NotEqual("", table.Text);
        var json = await ToolRun.RunAsync(cluster.Gateway, command, "--json");
        Assert.Equal(ExitCode.Done, json.Code);
        Assert.NotEmpty(json.Json.EnumerateObject());
    }

    [Fact]
    public async Task Silos_and_grains_are_counted_where_they_are()
    {
        for (var cart = 0; cart < 5; cart++)
            await cluster.GrainsOf(cart < 3 ? 0 : 1).GetGrain<ICartGrain>("counted-" + cart).Add();
        var status = (await ToolRun.RunAsync(cluster.Gateway, "status", "--json")).Json;
        Assert.Equal(2, status.GetProperty("activeSilos").GetInt32());
        Assert.True(status.GetProperty("isWell").GetBoolean());
        Assert.InRange(status.GetProperty("activations").GetInt64(), 5, 1000);
        var carts = (await ToolRun.RunAsync(cluster.Gateway, "grains", "--json")).Json.GetProperty("classes").EnumerateArray()
            .Single(static one => one.GetProperty("grainType").GetString() == "cart").GetProperty("silos");
        Assert.InRange(carts.GetProperty("silo-0").GetInt32(), 3, 100);
        Assert.InRange(carts.GetProperty("silo-1").GetInt32(), 2, 100);
        var silos = (await ToolRun.RunAsync(cluster.Gateway, "silos", "--json")).Json.GetProperty("silos").EnumerateArray();
        Assert.Equal(["silo-0", "silo-1"], silos.Select(static silo => silo.GetProperty("name").GetString()));
    }

    [Theory]
    [InlineData("status")]
    [InlineData("silos")]
    [InlineData("grains")]
    [InlineData("export")]
    public async Task A_client_is_no_operator(string command)
    {
        var run = await AsClientAsync(command);
        Assert.Equal(ExitCode.NotAllowed, run.Code);
        Assert.Contains("OperatorSecret", run.Errors, StringComparison.Ordinal);
        Assert.Equal("", run.Text);
    }

    [Fact]
    public async Task An_exported_file_has_the_numbers_of_all_silos_and_no_key_of_a_grain()
    {
        await cluster.GrainsOf(0).GetGrain<ICartGrain>("ada-lovelace").Add();
        var export = await ToolRun.RunAsync(cluster.Gateway, "export");
        Assert.True(export.Code == ExitCode.Done, export.Errors);
        Assert.DoesNotContain("ada-lovelace", export.Text, StringComparison.Ordinal);
        Assert.Equal(2, export.Json.GetProperty("members").GetArrayLength());
        Assert.All(export.Json.GetProperty("silos").EnumerateArray(), static silo =>
        {
            Assert.Contains(silo.GetProperty("stages").EnumerateArray(), static stage => stage.GetProperty("name").GetString() == "work");
            Assert.NotEqual(default, silo.GetProperty("utcNow").GetDateTime());
        });
        Assert.Contains(export.Json.GetProperty("silos")[0].GetProperty("classes").EnumerateArray(),
            static one => one.GetProperty("grainType").GetString() == "cart");
    }

    [Fact]
    public async Task A_client_sees_the_members_and_what_a_check_can_say_without_a_right()
    {
        var members = await AsClientAsync("members", "--json");
        Assert.Equal(ExitCode.Done, members.Code);
        Assert.Equal(2, members.Json.GetProperty("members").GetArrayLength());
        var check = await AsClientAsync("check", "--json");
        Assert.Equal(ExitCode.Done, check.Code);
        Assert.Equal(["gateway Ok", "cluster Ok", "operator Skipped", "database Skipped"], Lines(check));
    }

    [Fact]
    public async Task A_wrong_secret_is_refused_with_the_reason()
    {
        Dictionary<string, string> variables = new() { ["ACTOP_OPERATOR_SECRET"] = OperatedSilos.ClientSecret };
        var run = await ToolRun.RunAsync(cluster.Gateway, variables, "status", "--json");
        Assert.Equal(ExitCode.NotConnected, run.Code);
        Assert.Contains("different secrets", run.Errors, StringComparison.Ordinal);
        Assert.Equal(ExitCode.NotConnected, run.Json.GetProperty("exitCode").GetInt32());
    }

    [Fact]
    public async Task A_check_of_a_cluster_with_another_id_says_so_and_fails()
    {
        var run = await ToolRun.RunAsync(cluster.Gateway, "check", "--cluster-id", "other", "--json");
        Assert.Equal(ExitCode.NotWell, run.Code);
        Assert.Contains("another cluster", run.Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_check_of_a_gateway_that_nobody_listens_on_goes_no_further()
    {
        var run = await ToolRun.RunAsync(Harness.Processes.Ports.FindFree(1)[0], "check", "--json");
        Assert.Equal(ExitCode.NotWell, run.Code);
        Assert.Equal(["gateway Failed", "cluster Skipped", "database Skipped"], Lines(run));
    }

    [Fact]
    public async Task An_operator_checks_silos_clocks_and_the_right()
    {
        var run = await ToolRun.RunAsync(cluster.Gateway, "check", "--json");
        Assert.Equal(["gateway Ok", "cluster Ok", "operator Ok", "silos Ok", "clocks Ok", "database Skipped"], Lines(run));
    }

    [Fact]
    public async Task A_secret_in_a_file_is_used_without_the_end_of_its_line()
    {
        var file = Path.GetTempFileName();
        try
        {
            await File.WriteAllTextAsync(file, OperatedSilos.OperatorSecret + "\n", TestContext.Current.CancellationToken);
            var run = await ToolRun.RunAsync(cluster.Gateway, new Dictionary<string, string>(), "status", "--operator-secret-file", file);
            Assert.True(run.Code == ExitCode.Done, run.Errors);
        }
        finally
        {
            File.Delete(file);
        }
    }

    [Theory]
    [InlineData("status --gateway nowhere", "nowhere is not a gateway")]
    [InlineData("status --gateway silo:99999", "is not a gateway")]
    [InlineData("frobnicate", "frobnicate")]
    [InlineData("drain", "argument missing")]
    [InlineData("move a/b silo-0 --wait 0", "--wait must be")]
    [InlineData("status --tls-key key.pem", "--tls-key needs --tls-certificate")]
    [InlineData("status --tls-authority no/such/file.pem", "There is no file no/such/file.pem")]
    [InlineData("status --secret-file no/such/file", "no/such/file")]
    [InlineData("move nothing silo-0", "is not the id of a grain")]
    public async Task A_wrong_command_line_is_explained(string line, string expected)
    {
        await using var text = new StringWriter();
        await using var errors = new StringWriter();
        var code = await Program.RunAsync(line.Split(' '), new ToolOutput(text, errors, 200), name => name switch
        {
            "ACTOP_GATEWAY" => "localhost:" + cluster.Gateway,
            "ACTOP_OPERATOR_SECRET" => OperatedSilos.OperatorSecret,
            _ => null,
        });
        Assert.Equal(ExitCode.Usage, code);
        Assert.Contains(expected, errors.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(-3, 2, -3)]
    [InlineData(0, 2, 0)]
    [InlineData(2, 2, 0)]
    [InlineData(5, 2, 3)]
    public void The_time_of_the_question_is_no_difference_of_clocks(int read, int took, int off) =>
        Assert.Equal(TimeSpan.FromSeconds(off), ClusterCheck.Off(TimeSpan.FromSeconds(read), TimeSpan.FromSeconds(took)));

    [Theory]
    [InlineData(-1, "Failed", "has expired")]
    [InlineData(10, "Failed", "renew it")]
    [InlineData(20, "Ok", "valid until")]
    public void A_certificate_that_ends_soon_fails_the_check(int days, string state, string text)
    {
        var line = GatewayProbe.LineFor("certificate", TimeProvider.System.GetUtcNow().UtcDateTime.AddDays(days).AddHours(1), 14);
        Assert.Equal(state, line.State.ToString());
        Assert.Contains(text, line.Text, StringComparison.Ordinal);
    }

    /// <summary>Whoever reads only the numbers can rely on them.</summary>
    [Fact]
    public void Exit_codes_do_not_change() => Assert.Equal(
        [0, 1, 2, 3, 4, 5, 6, 7],
        [ExitCode.Done, ExitCode.NotWell, ExitCode.Usage, ExitCode.NotConnected, ExitCode.NotAllowed, ExitCode.NotFound, ExitCode.NotYet, ExitCode.Refused]);

    private Task<ToolRun> AsClientAsync(params string[] args) =>
        ToolRun.RunAsync(cluster.Gateway, new() { ["ACTOP_SECRET"] = OperatedSilos.ClientSecret }, args);

    private static string[] Lines(ToolRun run) => [.. run.Json.GetProperty("checks").EnumerateArray().Select(static line =>
        line.GetProperty("name").GetString() + " " + line.GetProperty("state").GetString())];
}
