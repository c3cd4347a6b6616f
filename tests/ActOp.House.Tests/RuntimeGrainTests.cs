using System.Reflection;
using Orleans;
using Orleans.Core.Internal;
using Orleans.Runtime;

namespace ActOp.House.Tests;

/// <summary>
/// Filters, traces and counts of the application contain its own calls only. So every interface that the runtime's grains, extensions and
/// observers have is marked as the runtime's own, or stands here.
/// </summary>
public class RuntimeGrainTests
{
    private const string Mark = "ActOp.Calls.OfRuntimeAttribute";

    /// <summary>What the application itself calls, with the reason.</summary>
    private static readonly Dictionary<Type, string> CalledByApplications = new()
    {
        [typeof(IManagementGrain)] = "A filter of the application may refuse it to somebody.",
        [typeof(ActOp.Groups.IGroupManagement)] = "A filter of the application may refuse it to somebody.",
        [typeof(IGrainManagementExtension)] = "The application ends and moves its own activations with it.",
        [typeof(IAsyncEnumerableGrainExtension)] = "It is how an enumeration of the application's grain begins and goes on.",
        [typeof(IRemindable)] = "It is the application's grain that gets the tick of a reminder.",
    };

    private static readonly Assembly[] Assemblies =
        [.. PublicApiTests.Projects.Select(static row => row.Data).Where(static name => name.StartsWith("ActOp.", StringComparison.Ordinal))
            .Select(static name => Path.Combine(AppContext.BaseDirectory, name + ".dll")).Where(File.Exists).Select(Assembly.LoadFrom)];

    [Fact]
    public void Every_grain_class_of_the_runtime_has_only_interfaces_that_filters_do_not_see()
    {
        var classes = Assemblies.SelectMany(static assembly => assembly.GetTypes())
            .Where(static type => type is { IsClass: true, IsAbstract: false } && typeof(IGrainBase).IsAssignableFrom(type)).ToArray();
        Assert.Contains(classes, static type => type.Name == "MemoryQueueGrain");
        var seen = classes.SelectMany(static type => type.GetInterfaces().Where(IsSeen).Select(one => type.Name + ": " + one.Name));
        Assert.Empty(seen);
    }

    [Fact]
    public void Every_callable_interface_of_the_runtime_is_marked_or_is_for_applications()
    {
        var interfaces = Assemblies.SelectMany(static assembly => assembly.GetTypes()).Where(IsCallable).ToArray();
        Assert.Contains(interfaces, static type => type.Name == "IStreamConsumerExtension");
        Assert.Empty(interfaces.Where(IsSeen).Select(static type => type.FullName));
        Assert.All(CalledByApplications.Keys, type => Assert.Contains(type, interfaces));
    }

    private static bool IsSeen(Type type) =>
        IsCallable(type) && !CalledByApplications.ContainsKey(type)
        && type.GetCustomAttributesData().All(static one => one.AttributeType.FullName != Mark);

    /// <summary>An interface with methods of its own; system targets need no mark.</summary>
    private static bool IsCallable(Type type) => type.IsInterface && typeof(IAddressable).IsAssignableFrom(type)
        && !typeof(ISystemTarget).IsAssignableFrom(type) && type.GetMethods().Any(static method => method.IsAbstract);
}
