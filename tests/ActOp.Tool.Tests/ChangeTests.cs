
namespace ActOp.Tool.Tests;

/// <summary>Commands that change the cluster.</summary>
public sealed class ChangeTests : IAsyncLifetime
{
    private readonly OperatedSilos _cluster = new();

    public ValueTask InitializeAsync() => _cluster.InitializeAsync();

    public ValueTask DisposeAsync() => _cluster.DisposeAsync();

    [Fact]
    public async Task A_grain_moves_to_the_silo_that_is_named()
    {
        var cart = _cluster.GrainsOf(0).GetGrain<ICartGrain>("moving");
        Assert.Equal("silo-0", await cart.Add());
        var moved = await ToolRun.RunAsync(_cluster.Gateway, "move", "cart/moving", "silo-1", "--json");
        Assert.True(moved.Code == ExitCode.Done, moved.Errors);
        Assert.True(moved.Json.GetProperty("hasMoved").GetBoolean());
        Assert.Equal("silo-1", await cart.Add());
        var again = await ToolRun.RunAsync(_cluster.Gateway, "move", "cart/moving", "silo-1", "--json");
        Assert.False(again.Json.GetProperty("hasMoved").GetBoolean());
    }

    [Fact]
    public async Task What_is_not_there_is_neither_moved_nor_drained()
    {
        Assert.Equal(ExitCode.NotFound, (await ToolRun.RunAsync(_cluster.Gateway, "move", "cart/nobody", "silo-1")).Code);
        Assert.Equal(ExitCode.NotFound, (await ToolRun.RunAsync(_cluster.Gateway, "drain", "silo-9")).Code);
        await _cluster.GrainsOf(0).GetGrain<ICartGrain>("staying").Add();
        Assert.Equal(ExitCode.NotFound, (await ToolRun.RunAsync(_cluster.Gateway, "move", "cart/staying", "silo-9")).Code);
    }

    [Theory]
    [InlineData("drain", "silo-1")]
    [InlineData("move", "cart/kept", "silo-1")]
    public async Task A_client_that_is_no_operator_changes_nothing(params string[] command)
    {
        var cart = _cluster.GrainsOf(0).GetGrain<ICartGrain>("kept");
        await cart.Add();
        Dictionary<string, string> variables = new() { ["ACTOP_SECRET"] = OperatedSilos.ClientSecret };
        var run = await ToolRun.RunAsync(_cluster.Gateway, variables, command);
        Assert.Equal(ExitCode.NotAllowed, run.Code);
        Assert.Contains("--operator-secret-file", run.Errors, StringComparison.Ordinal);
        Assert.Equal("silo-0", await cart.Add());
        Assert.Equal(2, (await ToolRun.RunAsync(_cluster.Gateway, "status", "--json")).Json.GetProperty("activeSilos").GetInt32());
    }

    [Fact]
    public async Task A_drained_silo_ends_its_process_and_its_grains_go_on_elsewhere()
    {
        var cart = _cluster.GrainsOf(1).GetGrain<ICartGrain>("drained");
        Assert.Equal("silo-1", await cart.Add());
        var drained = await ToolRun.RunAsync(_cluster.Gateway, "drain", "silo-1");
        Assert.True(drained.Code == ExitCode.Done, drained.Errors);
        await _cluster.RunOf(1);
        Assert.Equal("silo-0", await _cluster.GrainsOf(0).GetGrain<ICartGrain>("drained").Add());
        var last = await ToolRun.RunAsync(_cluster.Gateway, "drain", "silo-0");
        Assert.Equal(ExitCode.Refused, last.Code);
        Assert.Contains("--last", last.Errors, StringComparison.Ordinal);
        Assert.Equal(ExitCode.Done, (await ToolRun.RunAsync(_cluster.Gateway, "drain", "silo-0", "--last")).Code);
        await _cluster.RunOf(0);
    }
}
