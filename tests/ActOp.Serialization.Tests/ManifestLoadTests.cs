using System.Reflection;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace ActOp.Serialization.Tests;

/// <summary>Hosts of one process that start at the same time register the same assemblies.</summary>
public sealed class ManifestLoadTests
{
    /// <summary>Reached only if a thread hangs.</summary>
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    private static readonly ManualResetEventSlim Begun = new();
    private static readonly ManualResetEventSlim Released = new();
    private static bool s_isRegistered;

    [Fact]
    public void Who_loads_an_assembly_that_another_thread_is_registering_waits_for_it()
    {
        var assembly = WithInitializer();
        var wasRegistered = false;
        var first = new Thread(() => TypeManifest.Load(assembly));
        var second = new Thread(() =>
        {
            TypeManifest.Load(assembly);
            wasRegistered = s_isRegistered;
        });
        first.Start();
        Assert.True(Begun.Wait(Limit));
        second.Start();
        // It has come back already, or it waits.
        Assert.True(SpinWait.SpinUntil(() => (second.ThreadState & (ThreadState.WaitSleepJoin | ThreadState.Stopped)) != 0, Limit));
        Released.Set();

        Assert.True(first.Join(Limit) && second.Join(Limit));
        Assert.True(wasRegistered);
    }

    /// <summary>Stands for generated code that registers types.</summary>
    private static void Initialize()
    {
        Begun.Set();
        Released.Wait(Limit);
        s_isRegistered = true;
    }

    /// <summary>An assembly with a mark of generated code, whose module initializer calls <see cref="Initialize"/>.</summary>
    private static Assembly WithInitializer()
    {
        const string Key = nameof(ManifestLoadTests);
        AppDomain.CurrentDomain.SetData(Key, (Action)Initialize);
        var source = $$"""
            [assembly: {{typeof(GeneratedManifestAttribute).FullName}}(typeof(Code))]
            internal static class Code
            {
                [System.Runtime.CompilerServices.ModuleInitializer]
                internal static void Run() => ((System.Action)System.AppDomain.CurrentDomain.GetData("{{Key}}"))();
            }
            """;
        // By its name it is no assembly of the application, so its references are not looked at.
        var compilation = CSharpCompilation.Create("System.Initialized", [CSharpSyntaxTree.ParseText(source)],
            PlatformReferences.All, new(OutputKind.DynamicallyLinkedLibrary));
        using var image = new MemoryStream();
        Assert.Empty(compilation.Emit(image).Diagnostics.Where(static one => one.Severity == DiagnosticSeverity.Error));
        return Assembly.Load(image.ToArray());
    }
}
