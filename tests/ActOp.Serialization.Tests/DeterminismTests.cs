using ActOp.Generators;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Diagnostics;

namespace ActOp.Serialization.Tests;

/// <summary>What grains take from their machine is named while typing.</summary>
public class DeterminismTests
{
    private const string Usings =
        "using System; using System.Diagnostics; using System.Threading; using System.Threading.Tasks; using Orleans;\n";

    [Theory]
    [InlineData("DateTime.UtcNow", "DateTime.UtcNow")]
    [InlineData("DateTimeOffset.Now", "DateTimeOffset.Now")]
    [InlineData("TimeProvider.System.GetUtcNow()", "TimeProvider.System")]
    [InlineData("Environment.TickCount64", "Environment.TickCount64")]
    [InlineData("Guid.NewGuid()", "Guid.NewGuid")]
    [InlineData("Guid.CreateVersion7()", "Guid.CreateVersion7")]
    [InlineData("Random.Shared.Next()", "Random.Shared")]
    [InlineData("new Random()", "new Random")]
    [InlineData("Stopwatch.StartNew()", "Stopwatch.StartNew")]
    [InlineData("Task.Delay(5)", "Task.Delay")]
    [InlineData("Task.Run(() => { })", "Task.Run")]
    [InlineData("new PeriodicTimer(TimeSpan.FromSeconds(1))", "new PeriodicTimer")]
    public async Task What_a_grain_takes_from_its_machine_is_named(string code, string name)
    {
        var diagnostic = Assert.Single(await Analyze("public class G : Grain { public object M() => " + code + "; }"));
        Assert.Equal(("ACTOP0021", DiagnosticSeverity.Info), (diagnostic.Id, diagnostic.Severity));
        Assert.StartsWith("'" + name + "' is decided outside of the grain", diagnostic.GetMessage(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("public class G(TimeProvider time) : Grain { public object M() => time.GetUtcNow(); }")]
    [InlineData("public class G(TimeProvider time) : Grain { public object M() => Task.Delay(TimeSpan.FromSeconds(1), time); }")]
    [InlineData("public class G(TimeProvider time) : Grain { public object M() => new PeriodicTimer(TimeSpan.FromSeconds(1), time); }")]
    [InlineData("public class G(TimeProvider time) : Grain { public object M() => Guid.CreateVersion7(time.GetUtcNow()); }")]
    [InlineData("public class G : Grain { public object M() => new Random(5); }")]
    [InlineData("public class C { public object M() => DateTime.UtcNow; }")]
    public async Task What_can_be_repeated_or_is_no_grain_is_not_named(string code) => Assert.Empty(await Analyze(code));

    private static async Task<IEnumerable<Diagnostic>> Analyze(string code) => await CSharpCompilation.Create(
            "Determinism", [CSharpSyntaxTree.ParseText(Usings + code)], PlatformReferences.All,
            new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary))
        .WithAnalyzers([new DeterminismAnalyzer()]).GetAnalyzerDiagnosticsAsync();
}
