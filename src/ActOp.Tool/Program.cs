using System.CommandLine;
using ActOp.Tool.Commands;

namespace ActOp.Tool;

/// <summary>The program <c>actop</c>: one command, one answer, one exit code.</summary>
/// <remarks>Holds nothing. What fails is a line on standard error and an <see cref="ExitCode"/>; nothing is thrown at the user.</remarks>
internal static class Program
{
    private static Task<int> Main(string[] args)
    {
        var width = Console.IsOutputRedirected ? ToolOutput.RedirectedWidth : Math.Max(40, Console.WindowWidth);
        return RunAsync(args, new ToolOutput(Console.Out, Console.Error, width), Environment.GetEnvironmentVariable);
    }

    /// <summary>Runs one command.</summary>
    /// <param name="args">As a shell gives them.</param>
    /// <param name="output">Where it prints.</param>
    /// <param name="environment">The variables of the environment.</param>
    /// <returns>A value of <see cref="ExitCode"/>.</returns>
    internal static async Task<int> RunAsync(string[] args, ToolOutput output, Func<string, string?> environment)
    {
        var parsed = new ToolCommands(output, environment).Root.Parse(args);
        if (parsed.Errors.Count > 0)
        {
            foreach (var error in parsed.Errors)
                output.Errors.WriteLine(error.Message);
            output.Errors.WriteLine("'actop --help' shows the commands, 'actop COMMAND --help' their options.");
            return ExitCode.Usage;
        }

        return await parsed.InvokeAsync(new InvocationConfiguration { Output = output.Out, Error = output.Errors }).ConfigureAwait(false);
    }
}
