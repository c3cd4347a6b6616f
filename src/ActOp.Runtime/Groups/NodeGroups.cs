using System.Collections.Frozen;
using System.Reflection;
using ActOp.Calls;
using ActOp.Configuration;
using ActOp.Foundation;
using ActOp.Groups;
using ActOp.Staging;
using ActOp.Staging.Groups;
using Orleans.Runtime;

namespace ActOp.Runtime.Groups;

/// <summary>The groups of a silo, and which of them a grain is in.</summary>
/// <remarks>
/// Any thread. Which groups there are does not change; what they get does (<see cref="Change"/>, under a lock). The delegate of the
/// application is called on turns only.
/// Failures of it: throws, or names an unknown group: the group of the class, counted, logged once per class. Hangs: it
/// holds a thread of the work stage, as any code of a grain; that is logged as a long turn.
/// </remarks>
internal sealed class NodeGroups
{
    private readonly GroupsOptions _options;
    private readonly FrozenDictionary<string, GrainGroup> _byName;
    private readonly OncePerClass _wrong;
    private readonly Lock _changing = new();

    /// <summary>What was changed since the start, the latest change of each value, by group. Under <see cref="_changing"/>.</summary>
    private readonly Dictionary<string, List<GroupSetting>> _changes = new(StringComparer.Ordinal);
    private long _failures;

    internal NodeGroups(GroupsOptions options, LocalNode local)
    {
        _options = options;
        _wrong = new OncePerClass(local.Log.GroupSelectorFailed);
        var shapes = ParentsFirst();
        OfStage = new StageGroups(shapes,
            new Staging.Groups.GroupSetting(options.Quantum, options.Interval, Environment.ProcessorCount, TimerThread.Shared));
        var costs = options.Mode == BudgetMode.Ticks ? new RequestCosts(options.Cost, local.Log) : null;
        _byName = shapes.Select(shape => new GrainGroup(local, shape.Name, OptionsOf(shape.Name), OfStage[shape.Name], costs))
            .ToFrozenDictionary(static group => group.Name, StringComparer.Ordinal);
        Default = _byName[GroupsOptions.DefaultGroup];
    }

    /// <summary>The group of all grains that are in no other.</summary>
    internal GrainGroup Default { get; }

    /// <summary>What the work stage knows of the groups.</summary>
    internal StageGroups OfStage { get; }

    internal IEnumerable<GrainGroup> All => _byName.Values;

    /// <summary>How often the delegate has thrown or has named an unknown group.</summary>
    internal long SelectorFailures => Interlocked.Read(ref _failures);

    internal int MaxSeries => _options.MaxSeries;

    /// <summary>Checks the attributes of the classes that this silo hosts.</summary>
    /// <exception cref="OrleansConfigurationException">
    /// A class names a group that does not exist, or a method of its interfaces has a cost that is none.
    /// </exception>
    internal static void CheckClasses(GroupsOptions options, IEnumerable<Type> classes)
    {
        if (!options.AreUsed)
            return;
        foreach (var type in classes)
        {
            GroupsOptions.Check(NameOf(type) is not { } name || name == GroupsOptions.DefaultGroup || options.Groups.ContainsKey(name),
                "The class " + type + " has [Group(\"" + NameOf(type) + "\")], and the silo has no such group: add it by AddGroups, or "
                + "remove the attribute");
            if (options.Mode == BudgetMode.Ticks)
                RequestCosts.CheckClass(type);
        }
    }

    /// <summary>The application has a delegate that chooses groups.</summary>
    internal bool AreChosen => _options.Select is not null;

    /// <summary>The group that the application chooses for an activation. On its first turn.</summary>
    /// <param name="grain">The grain.</param>
    /// <param name="type">Its class.</param>
    /// <param name="ofClass">The group that its class names, or null.</param>
    /// <param name="request">The request that activates it, or null. It was not admitted by the group: it is counted now.</param>
    internal GrainGroup Chosen(GrainId grain, Type type, string? ofClass, Call? request)
    {
        var group = Ask(grain, type, request?.Context) ?? OfClass(ofClass);
        if (request is { Method.IsOfRuntime: false })
            group.UseRate();
        return group;
    }

    private GrainGroup? Ask(GrainId grain, Type type, RequestContextData? context)
    {
        try
        {
            if (_options.Select!(grain, context?.Values) is not { } name)
                return null;
            if (_byName.TryGetValue(name, out var group))
                return group;
            Report(type, "it has named the group \"" + name + "\", which does not exist", null);
        }
        catch (Exception exception)
        {
            Report(type, "it has thrown", exception);
        }

        return null;
    }

    /// <summary>The group of the grains of a class for which the application chooses none.</summary>
    internal GrainGroup OfClass(string? name) => name is not null && _byName.TryGetValue(name, out var group) ? group : Default;

    private void Report(Type type, string what, Exception? exception)
    {
        Interlocked.Increment(ref _failures);
        _wrong.Report(type, what, exception);
    }

    /// <summary>The group that a class names, or null.</summary>
    internal static string? NameOf(Type type) => type.GetCustomAttribute<GroupAttribute>(inherit: true)?.Name;

    /// <summary>What was changed since the start, for silos that come later.</summary>
    internal GroupSetting[] Changes
    {
        get
        {
            lock (_changing)
                return [.. _changes.Values.SelectMany(static changes => changes)];
        }
    }

    /// <summary>
    /// Changes what a group gets. A value whose later change has come before stays. What comes twice changes nothing.
    /// </summary>
    /// <exception cref="ArgumentException">There is no such group, or a value is wrong; nothing has changed.</exception>
    internal void Change(GroupSetting setting, bool onlyCheck = false)
    {
        if (!_byName.TryGetValue(setting.Group, out var group))
        {
            throw new ArgumentException("This silo has no group \"" + setting.Group + "\". It has: "
                + string.Join(", ", _byName.Keys.Order(StringComparer.Ordinal).Take(20)) + ". Groups are added by AddGroups.");
        }

        lock (_changing)
        {
            var changes = GroupSetting.Latest([.. _changes.GetValueOrDefault(setting.Group) ?? [], setting]);
            var changed = changes.Aggregate(OptionsOf(setting.Group), static (options, one) => one.Change.Apply(options));
            try
            {
                _options.Check(setting.Group, changed, OptionsNow(setting.Group), Environment.ProcessorCount);
            }
            catch (OrleansConfigurationException wrong)
            {
                throw new ArgumentException(wrong.Message + " The group is as it was.", wrong);
            }

            if (onlyCheck)
                return;
            _changes[setting.Group] = changes;
            group.Change(changed);
            // A guarantee of one group is taken from its siblings.
            foreach (var shape in ShapesOf(changed.Parent, [.. OptionsNow(null).Where(one => one.Value.Parent == changed.Parent)]))
            {
                if (shape != OfStage[shape.Name].Shape)
                    OfStage.Change(shape);
            }
        }
    }

    /// <summary>The options of the groups, but one, as they are now.</summary>
    private IEnumerable<KeyValuePair<string, GroupOptions>> OptionsNow(string? but) =>
        _byName.Values.Where(group => group.Name != but).Select(static group => KeyValuePair.Create(group.Name, group.Options));

    /// <summary>What the groups with this parent get of the stage.</summary>
    private IEnumerable<GroupShape> ShapesOf(string? parent, IReadOnlyList<KeyValuePair<string, GroupOptions>> siblings)
    {
        var weights = GroupWeights.Compute(
            [.. siblings.Select(static one => one.Value)], parent is null ? 0 : Staging.Groups.GroupSetting.DefaultWeight);
        return siblings.Zip(weights, (one, weight) => new GroupShape(
            one.Key, weight, parent, one.Value.Max, _options.Mode == BudgetMode.Ticks ? one.Value.Ticks : null));
    }

    private GroupOptions OptionsOf(string name) => _options.Groups.TryGetValue(name, out var group) ? group : new GroupOptions();

    private List<GroupShape> ParentsFirst()
    {
        var byParent = _options.Groups.Keys.Append(GroupsOptions.DefaultGroup).Distinct(StringComparer.Ordinal)
            .Select(name => KeyValuePair.Create(name, OptionsOf(name))).ToLookup(static one => one.Value.Parent, StringComparer.Ordinal);
        List<GroupShape> shapes = [.. ShapesOf(null, [.. byParent[null]])];
        for (var next = 0; next < shapes.Count; next++)
            shapes.AddRange(ShapesOf(shapes[next].Name, [.. byParent[shapes[next].Name]]));
        return shapes;
    }
}
