using System.Text.Json;

namespace ActOp.Tool.Tests;

/// <summary>What one run of the command has printed and returned.</summary>
internal sealed record ToolRun(int Code, string Text, string Errors)
{
    /// <summary>The answer of a run with --json.</summary>
    internal JsonElement Json => JsonDocument.Parse(Text).RootElement;

    /// <summary>Runs the command against a gateway of this machine.</summary>
    /// <param name="gateway">The port.</param>
    /// <param name="variables">Of the environment.</param>
    /// <param name="args">The command line, without the gateway.</param>
    internal static async Task<ToolRun> RunAsync(int gateway, Dictionary<string, string> variables, params string[] args)
    {
        await using var text = new StringWriter();
        await using var errors = new StringWriter();
        var code = await Program.RunAsync([.. args, "--gateway", "localhost:" + gateway],
            new ToolOutput(text, errors, ToolOutput.RedirectedWidth), variables.GetValueOrDefault);
        return new ToolRun(code, text.ToString(), errors.ToString());
    }

    /// <summary>As an operator.</summary>
    internal static Task<ToolRun> RunAsync(int gateway, params string[] args) =>
        RunAsync(gateway, new() { ["ACTOP_OPERATOR_SECRET"] = OperatedSilos.OperatorSecret }, args);
}
