using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Running;

namespace ActOp.Bench.Micro;

/// <summary>The suites of this assembly.</summary>
internal static class MicroSuites
{
    internal static int Run(string[] arguments)
    {
        IConfig config = DefaultConfig.Instance.WithArtifactsPath(Path.Combine("artifacts", "benchmarks"));
        BenchmarkSwitcher.FromAssembly(typeof(MicroSuites).Assembly).Run(arguments.Length == 0 ? ["--filter", "*"] : arguments, config);
        return 0;
    }
}
