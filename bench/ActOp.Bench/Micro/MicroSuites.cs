using BenchmarkDotNet.Running;

namespace ActOp.Bench.Micro;

/// <summary>The suites of this assembly.</summary>
internal static class MicroSuites
{
    internal static int Run(string[] arguments)
    {
        BenchmarkSwitcher.FromAssembly(typeof(MicroSuites).Assembly).Run(arguments.Length == 0 ? ["--filter", "*"] : arguments);
        return 0;
    }
}
